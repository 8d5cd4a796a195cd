import{a,b}from"./chunk-LFAHU3GA.js";import"./chunk-XPTIV6AQ.js";export{a as MapView,b as resolved};
