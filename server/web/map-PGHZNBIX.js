import{a,b}from"./chunk-OVTSNGNI.js";import"./chunk-WB2SNKCV.js";export{a as MapView,b as resolved};
