import{a,b}from"./chunk-SL4F3SN2.js";import"./chunk-XPTIV6AQ.js";export{a as MapView,b as resolved};
