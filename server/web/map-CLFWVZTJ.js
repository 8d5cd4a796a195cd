import{a,b}from"./chunk-EDWZJ4KM.js";import"./chunk-BVMLYXRB.js";export{a as MapView,b as resolved};
