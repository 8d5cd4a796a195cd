import{a,b}from"./chunk-OF6MNSYX.js";import"./chunk-2OO4KYYA.js";export{a as MapView,b as resolved};
