import{a,b}from"./chunk-TWLYE5TA.js";import"./chunk-V3I4D3EP.js";export{a as MapView,b as resolved};
