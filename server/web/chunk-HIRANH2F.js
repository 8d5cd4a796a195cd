import{c,d as i,k as l,t as u}from"./chunk-VH2RXPTR.js";var d="https://w3id.org/urbankg/graph/provenance",f=300;async function O(t){let e=t.filter(n=>u(n.subject)&&s(n.object)).slice(0,f),r=new Map;if(!e.length)return r;let p=e.map((n,o)=>`(${o} <<( <${n.subject}> <${n.predicate}> ${s(n.object)} )>>)`),a=await l(`PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
    PREFIX ukg: <https://w3id.org/urbankg/system#> PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX dcterms: <http://purl.org/dc/terms/>
    SELECT ?n ?quote ?confidence ?document ?title ?model FROM <${d}> WHERE {
      VALUES (?n ?t) { ${p.join(" ")} }
      ?r rdf:reifies ?t ; ukg:quote ?quote .
      OPTIONAL { ?r ukg:confidence ?confidence }
      OPTIONAL { ?r prov:wasGeneratedBy ?run OPTIONAL { ?run ukg:model ?model }
        OPTIONAL { ?run prov:used ?document OPTIONAL { ?document dcterms:source ?title } } } }`);for(let n of a){let o=e[Number(n.n.value)];r.set(o,[...r.get(o)??[],g(n)])}return r}function T(t){let e=[t.confidence?`Confidence ${Number(t.confidence).toFixed(2)}`:"",t.model??""].filter(Boolean).join(" \xB7 ");return c`<p class="quote s">“${t.quote}”</p>
    <p class="small soft">${e}${t.document?c` · <a href=${`#/text/${t.document.split("/").pop()}`}>${t.title??"the text"}</a>`:i}</p>`}function g(t){let e=r=>t[r]?.value??null;return{quote:e("quote")??"",document:e("document"),title:e("title"),model:e("model"),confidence:e("confidence")}}function s(t){if(t.type==="uri")return u(t.value)?`<${t.value}>`:"";if(t.type!=="literal")return"";let e=JSON.stringify(t.value);return t["xml:lang"]?/^[a-z0-9-]+$/i.test(t["xml:lang"])?`${e}@${t["xml:lang"]}`:"":t.datatype&&u(t.datatype)?`${e}^^<${t.datatype}>`:e}export{O as a,T as b};
