import{a,b}from"./chunk-SYME7R47.js";import"./chunk-KDJZTS36.js";export{a as MapView,b as resolved};
