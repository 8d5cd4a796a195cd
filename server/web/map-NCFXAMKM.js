import{a,b}from"./chunk-JHKJWCSB.js";import"./chunk-GMGPZX7I.js";export{a as MapView,b as resolved};
