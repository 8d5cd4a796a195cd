import{a,b}from"./chunk-EM4IPFL3.js";import"./chunk-WB2SNKCV.js";export{a as MapView,b as resolved};
