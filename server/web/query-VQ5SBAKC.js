import{b as k}from"./chunk-ZU5QVCKH.js";import{c as y,e as E,f as $,g as q}from"./chunk-H6PYSPHH.js";import{a as g,g as b}from"./chunk-7AO3TQGM.js";import{c as s,d as i,h as d,i as u,k as c,m,n as v,s as w,t as f}from"./chunk-XPTIV6AQ.js";var T={rdf:"http://www.w3.org/1999/02/22-rdf-syntax-ns#",rdfs:"http://www.w3.org/2000/01/rdf-schema#",owl:"http://www.w3.org/2002/07/owl#",xsd:"http://www.w3.org/2001/XMLSchema#",skos:"http://www.w3.org/2004/02/skos/core#",geo:"http://www.opengis.net/ont/geosparql#",geof:"http://www.opengis.net/def/function/geosparql/",uom:"http://www.opengis.net/def/uom/OGC/1.0/",prov:"http://www.w3.org/ns/prov#"},p=[{name:"Kinds of things, and how many",query:`SELECT ?kind (COUNT(?thing) AS ?things) WHERE {
  ?thing a ?class .
  ?class a owl:Class ; rdfs:label ?kind
}
GROUP BY ?kind ORDER BY DESC(?things) LIMIT 25`},{name:"Places with their geometry",query:`SELECT ?place ?label ?wkt WHERE {
  ?place rdfs:label ?label ; geo:hasDefaultGeometry/geo:asWKT ?wkt
  FILTER(STRLEN(STR(?wkt)) < 5000)
} LIMIT 200`},{name:"Which areas hold the most",query:`SELECT ?area ?label (COUNT(?inside) AS ?places) WHERE {
  ?inside geo:rcc8ntpp ?area .
  ?area rdfs:label ?label
}
GROUP BY ?area ?label ORDER BY DESC(?places) LIMIT 20`}],h=class extends g{constructor(){super(...arguments);this.query="";this.ran="";this.results=null;this.graph="";this.map=null;this.view="table";this.selected=null;this.all=!1;this.copied=!1;this.seconds=0;this.plan="";this.words="";this.offered=[]}willUpdate(e){if(!e.has("parameters"))return;let t=this.parameters.get("query");t&&t!==this.ran?(this.query=t,this.execute()):this.query||(this.query=x(p[0].query))}async execute(){let e=this.ran=this.query,t=performance.now();if(this.results=null,this.graph=this.plan="",this.map=null,/^\s*(?:(?:#[^\n]*|(?:PREFIX|BASE)\s[^>]*>)\s*)*(?:CONSTRUCT|DESCRIBE)\b/i.test(e))this.graph=await this.run("Asking the graph\u2026",()=>u("sparql",{form:{query:e},accept:"text/turtle"}))??"";else{let a=await this.run("Asking the graph\u2026",()=>c(e));if(!a)return;this.results=a,this.map=E(k(a)),this.map?import("./map-5HKYDDLN.js"):this.view="table",w().then(()=>f((a.results?.bindings??[]).slice(0,200).flatMap(n=>Object.values(n).filter(o=>o.type==="uri").map(o=>o.value)))).then(()=>this.requestUpdate(),()=>{})}this.seconds=(performance.now()-t)/1e3,this.all=this.copied=!1,history.replaceState(null,"",`#/${m("query",{query:e})}`),this.requestUpdate()}async explain(){let e=await this.run("Explaining\u2026",()=>d("sparql",{form:{query:this.query,explain:"true"}}));e&&(this.plan=JSON.stringify(e,null,2)),this.requestUpdate()}async lookUp(e){this.words=e.target.value,this.offered=this.words.trim().length>1?await b(this.words,void 0,8):[],this.requestUpdate()}insert(e){let t=this.querySelector("#sparql");t.setRangeText(`<${e}>`,t.selectionStart,t.selectionEnd,"end"),this.query=t.value,this.words="",this.offered=[],this.requestUpdate(),t.focus()}pickExample(e){let t=p[Number(e.target.value)];t&&(this.query=x(t.query),this.requestUpdate(),this.execute())}render(){return s`<div class="gap">
      <div class="row spread"><h1 class="mid">Query the graph</h1>
        <div class="row push"><label class="hide" for="example">Example queries</label><select id="example" class="chip plain" @change=${e=>this.pickExample(e)}>
          <option value="">Example queries</option>${p.map((e,t)=>s`<option value=${t}>${e.name}</option>`)}</select></div></div>
      <form class="card" @submit=${e=>(e.preventDefault(),void this.execute())}>
        <div class="in stack">
          <label class="hide" for="sparql">SPARQL query</label>
          <textarea id="sparql" class="code" rows="12" spellcheck="false" .value=${this.query} @input=${e=>this.query=e.target.value}
            @keydown=${e=>e.key==="Enter"&&(e.ctrlKey||e.metaKey)&&(e.preventDefault(),void this.execute())}></textarea>
          <div class="row"><button class="btn main">Run <kbd class="wide">Ctrl ↵</kbd></button>
            <button class="btn low" type="button" @click=${()=>{this.explain()}}>Explain</button>
            <span class="push lookup"><label class="hide" for="lookup">Insert a name, class or property</label>
              <input id="lookup" type="search" class="chip plain" placeholder="Insert a name, class or property" autocomplete="off" .value=${this.words} @input=${e=>{this.lookUp(e)}} /></span></div>
          ${this.offered.length?s`<div class="row">${this.offered.map(e=>s`<button type="button" class="chip plain" @click=${()=>this.insert(e.iri)}><i>${e.kind}</i>${e.label}</button>`)}</div>`:i}
        </div>
      </form>
      ${this.state()} ${this.plan?s`<pre tabindex="0">${this.plan}</pre>`:i}
      ${this.graph?s`<pre tabindex="0" class="tall">${this.graph}</pre>`:i} ${this.results?this.shown(this.results):i}
    </div>`}shown(e){if(e.boolean!==void 0)return s`<h2 class="verdict"><span class="v ${e.boolean?"ok":"no"}">${e.boolean?"True":"False"}</span></h2>`;let t=e.results?.bindings.length??0;if(!t)return s`<div class="card"><p class="empty first">No row fits. Take a condition out, or look at what the graph has with an example query.</p></div>`;let l=(a,n)=>s`<button aria-pressed=${this.view===a?"true":"false"} @click=${()=>this.turn(a)}>${n}</button>`;return s`<section class="stack" aria-label="Answer">
      <div class="row"><h2 aria-live="polite">${t.toLocaleString("en")} ${t===1?"row":"rows"}</h2><span class="small faint num">${this.seconds.toFixed(2)} s</span>
        ${this.map?s`<span class="seg push" role="group" aria-label="View">${l("table","Table")}${l("map","Map")}</span>`:i}</div>
      ${this.view==="map"&&this.map?s`<ukg-map class="tall" .data=${this.map} .reference=${null} .around=${null} .selected=${this.selected} label="Map of the answer" @pick=${a=>this.pick(a.detail)}></ukg-map>`:s`<div class="card">${y(e,{map:this.map,selected:this.selected,all:this.all,pick:a=>this.pick(a),more:()=>this.more()})}</div>`}
      <div class="row">${q(()=>this.didCopy(),this.copied)} ${$(this.ran,this.map,"query",a=>this.failed(a))}</div>
    </section>`}turn(e){this.view=e,this.requestUpdate()}pick(e){this.selected=e,this.requestUpdate()}more(){this.all=!0,this.requestUpdate()}didCopy(){this.copied=!0,this.requestUpdate()}failed(e){this.problem=v(e),this.requestUpdate()}};function x(r){return`${Object.entries(T).filter(([e])=>new RegExp(`\\b${e}:`).test(r)).map(([e,t])=>`PREFIX ${e}: <${t}>`).join(`
`)}
${r}`}customElements.define("ukg-query",h);
