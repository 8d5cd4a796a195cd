import{a,b}from"./chunk-MN7OG26K.js";import"./chunk-XPTIV6AQ.js";export{a as MapView,b as resolved};
