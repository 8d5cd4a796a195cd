import{a,b}from"./chunk-2JSOYDXD.js";import"./chunk-WHLUBIEO.js";export{a as MapView,b as resolved};
