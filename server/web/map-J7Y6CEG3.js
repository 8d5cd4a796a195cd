import{a,b}from"./chunk-A235OIYO.js";import"./chunk-WB2SNKCV.js";export{a as MapView,b as resolved};
