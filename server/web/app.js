import{a as N,b as G}from"./chunk-HIRANH2F.js";import{a as B,b as V,c as Q,d as Y,e as z,f as Z}from"./chunk-4UY5G3RA.js";import{a as D,b as W,d as K,e as X}from"./chunk-WIYGO5E6.js";import{c as i,d as l,e as A,f as b,g as w,h as m,j as L,k as $,l as v,m as y,o as U,q as j,r as H,s as S,t as k,u as O,v as F,x as R}from"./chunk-VH2RXPTR.js";var J=`PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?class ?region (SAMPLE(?name) AS ?label) (COUNT(DISTINCT ?x) AS ?n) WHERE {
  ?x geo:rcc8ntpp ?region ; a ?class . ?class rdfs:label ?word . ?region rdfs:label ?name
} GROUP BY ?class ?region HAVING (COUNT(DISTINCT ?x) > 3 && COUNT(DISTINCT ?x) < 30) ORDER BY DESC(?n) LIMIT 60`,C;async function _(){let c=await $(J),{labels:d}=await H(),e=new Set,t=new Set,s=[];for(let n of c){let r=d.get(n.class?.value??""),a=n.label?.value;if(!r||!a||e.has(r)||t.has(a))continue;e.add(r),t.add(a);let p=ee(r);if(s.push([`Which ${p} are in ${a}?`,`How many ${p} are in ${a}?`,`Which ${p} are in ${a}?`][s.length]),s.length===3)break}return s}function ee(c){return/[^aeiou]y$/.test(c)?`${c.slice(0,-1)}ies`:/(s|x|ch|sh)$/.test(c)?`${c}es`:`${c}s`}var I=class extends D{constructor(){super(...arguments);this.question="";this.context="";this.withContext=!1;this.reply=null;this.asked="";this.seconds=0;this.query="";this.results=null;this.map=null;this.reference=null;this.around=null;this.selected=null;this.all=!1;this.copied=!1;this.changed=!1;this.examples=[];this.evidence=[];this.allEvidence=!1}connectedCallback(){super.connectedCallback(),C??=_(),C.then(e=>{this.examples=e,this.requestUpdate()},()=>C=void 0)}willUpdate(e){if(!e.has("parameters"))return;let t=this.parameters.get("q")??"";this.question=t,this.context=this.parameters.get("context")??"",this.withContext||=this.context!=="",t&&`${t}
${this.context}`!==this.asked&&this.answer(),t||(this.reply=null,this.asked="")}firstUpdated(){matchMedia("(min-width: 60rem)").matches&&this.querySelector("#q")?.focus()}send(e){e.preventDefault();let t=this.question.trim();if(!t)return;this.asked="";let s=`#/${v("ask",{q:t,context:this.context.trim()})}`;location.hash===s?this.answer():location.hash=s}async answer(){this.abort?.abort();let e=this.abort=new AbortController,{question:t,context:s}=this;this.asked=`${t}
${s}`,this.reply=null;let n=performance.now(),r=await this.run("Linking names\u2026 Planning\u2026 Asking the graph\u2026",()=>m("ask",{json:{question:t,...s?{context:s}:{}},signal:e.signal}));if(!(!r||e.signal.aborted)){this.seconds=(performance.now()-n)/1e3,this.reply=r,this.query=r.sparql??"",this.changed=!1;for(let a of r.entities??[])O(a.iri,a.label);this.show(r.results??null,r.map??null),document.title=`${t} \xB7 UrbanKG`,await this.draw(r).catch(()=>{}),this.requestUpdate()}}async prove(e){this.evidence=[];let t=[...new Set((e?.results?.bindings??[]).flatMap(o=>Object.values(o).filter(g=>g.type==="uri").map(g=>g.value)))],s=(this.reply?.entities??[]).map(o=>o.iri),n=[...t.slice(0,40),...s].filter(k);if(!t.length)return;let r=new Set([...t,...s]),a=new Set(this.reply?q(this.reply).map(o=>o.property?.iri):[]),u=(await $(`SELECT ?s ?p ?o WHERE { VALUES ?s { ${n.map(o=>`<${o}>`).join(" ")} } ?s ?p ?o
      FILTER(!STRSTARTS(STR(?p), "http://www.opengis.net/")) } LIMIT 300`)).map(o=>({subject:o.s.value,predicate:o.p.value,object:o.o})),f=o=>r.has(o.object.value)?0:a.has(o.predicate)?1:o.predicate===U?2:3,h=u.filter(o=>f(o)<3).sort((o,g)=>f(o)-f(g)),T=await N(h);await S([...T.keys()].flatMap(o=>[o.subject,o.object.type==="uri"?o.object.value:""])),e===this.results&&(this.evidence=h.filter(o=>T.has(o)).map(o=>({triple:o,sources:T.get(o)})),this.requestUpdate())}proof(){let e=this.allEvidence?this.evidence:this.evidence.slice(0,3),t=this.evidence.length;return i`<section class="card"><header><h2>Evidence</h2><span class="small faint">the words of texts that this rests on</span></header><div class="in stack">
      ${e.map(({triple:s,sources:n})=>i`<div><p>${K({...s,evidence:null,confidence:null})}</p>${n.slice(0,2).map(G)}</div>`)}
      ${e.length<t?i`<button class="btn low" @click=${()=>this.everything()}>All ${t}</button>`:l}</div></section>`}everything(){this.allEvidence=!0,this.requestUpdate()}show(e,t){this.results=e,this.map=V(t),this.selected=null,this.all=!1,this.copied=!1,this.map&&import("./map-LYBTHRSH.js"),this.allEvidence=!1,this.prove(e).catch(()=>{});let s=(e?.results?.bindings??[]).flatMap(n=>Object.values(n).filter(r=>r.type==="uri").map(r=>r.value));S(s.slice(0,600)).then(()=>this.requestUpdate(),()=>{}),this.requestUpdate()}async draw(e){this.reference=this.around=null;let t=q(e),s=t.map(h=>h.entity?.iri).filter(h=>!!h&&k(h)),n=new Set(this.map?.features.map(h=>h.properties?.iri)),r=s.filter(h=>!n.has(h));if(!r.length||!this.map)return;this.reference=await m(`features?${new URLSearchParams([...r.map(h=>["iri",h]),["tolerance","0.0001"]])}`);let a=t.find(h=>h.op==="near"&&h.meters),p=a?[...M(a)].find(h=>h.entity)?.entity?.iri:void 0;if(!a||!p||!k(p))return;let f=(await $(`PREFIX geo: <http://www.opengis.net/ont/geosparql#>
      PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
      SELECT (geof:buffer(?wkt, ${a.meters}, uom:metre) AS ?around) WHERE {
        <${p}> (geo:hasDefaultGeometry|geo:hasGeometry)/geo:asWKT ?wkt } LIMIT 1`))[0]?.around;f&&(this.around=z(f.value))}async again(){let e=await this.run("Asking the graph\u2026",()=>L(this.query));e&&(this.changed=this.query!==this.reply?.sparql,this.show(e,Z(e)))}render(){return i`<div class="gap">
      <div class="stack">
        <form class="ask" role="search" @submit=${e=>this.send(e)}>
          <label class="hide" for="q">Your question</label>
          <input id="q" .value=${this.question} enterkeyhint="send" autocomplete="off" placeholder="Ask about places"
            @input=${e=>this.question=e.target.value} />
          <button class="btn main">Ask <kbd class="wide">↵</kbd></button>
        </form>
        ${this.withContext?i`<label class="field">What else to consider<input id="context" .value=${this.context} autocomplete="off"
                @input=${e=>this.context=e.target.value}
                @keydown=${e=>e.key==="Enter"&&this.send(e)} /></label>`:l}
        <div class="row">
          ${this.reply?this.readAs(this.reply):l}
          ${this.withContext?l:i`<button class="btn low push" @click=${()=>this.addContext()}>Add context</button>`}
        </div>
      </div>
      ${this.state()} ${this.reply?this.answered(this.reply):this.working||this.problem||this.parameters.get("q")?l:this.empty()}
    </div>`}readAs(e){let t=q(e),s=t.filter(a=>a.op==="kind").map(a=>a.of),n=t.find(a=>a.op==="near"&&a.meters),r=e.entities??[];return!s.length&&!r.length?l:i`<span class="small faint">Read as</span>
      ${s.map(a=>i`<span class="chip still k-${R([a.iri])}"><i>kind</i>${a.label}</span>`)}
      ${n?i`<span class="chip still k-value"><i>near</i>within ${E(n.meters)}</span>`:l}
      ${r.map(te)}`}distances(e){let t=q(e).find(n=>n.op==="near"&&n.assumed&&n.meters);if(!t||!/\bnear\b/.test(this.question))return l;let s=n=>this.question.replace(/\bnear\b/,`within ${E(n)} of`);return i`<nav class="seg" aria-label="Distance">${[t.meters/2,t.meters,t.meters*2].map(n=>n===t.meters?i`<a aria-current="true">${E(n)}</a>`:i`<a href=${`#/${v("ask",{q:s(n)})}`}>${E(n)}</a>`)}</nav>`}async addContext(){this.withContext=!0,this.requestUpdate(),await this.updateComplete,this.querySelector("#context").focus()}empty(){return i`<section class="start stack">
      <h1>Ask about the places of this graph</h1>
      <p class="soft">Write a question as you would say it. The answer comes with its map, the query that found it, and what was assumed.</p>
      ${this.examples.length?i`<div class="row"><span class="small faint">Try</span>${this.examples.map(e=>i`<a class="chip plain" href=${`#/${v("ask",{q:e})}`}>${e}</a>`)}</div>`:l}
    </section>`}answered(e){let{heading:t,rest:s}=se(e,this.results),n=this.results?.results?.bindings.length??0,r=e.gaps??[];return i`<div class=${this.map?"answer":"answer alone"}>
        <section class="head stack" aria-live="polite">
          <h1>${e.answer===null?"I cannot answer this from the graph.":t}</h1>
          ${s&&!this.changed?i`<div class="row small soft"><span>${s}</span>${this.distances(e)}</div>`:l}
          ${this.changed?i`<p class="small soft">The list shows your changed query, not the question.</p>`:l}
          ${r.length?this.gaps(r,e.answer===null):l}
        </section>
        ${this.map?i`<ukg-map .data=${this.map} .reference=${this.reference} .around=${this.around} .selected=${this.selected}
              label="Map of the answer. The list has the same numbers."
              @pick=${a=>this.pick(a.detail)}></ukg-map>`:l}
        ${this.results?.head.vars&&n?i`<section class="rest"><div class="card">
              ${B(this.results,{map:this.map,selected:this.selected,all:this.all,pick:a=>this.pick(a),more:()=>this.more()})}
              <div class="row ruled">
                ${Y("ask",{q:this.question,context:this.context},()=>this.didCopy(),this.copied)}
                ${Q(this.query,this.map,"answer",a=>this.failed(a))}
                <span class="push small faint num">${n.toLocaleString("en")} ${n===1?"row":"rows"} · ${this.seconds.toFixed(1)} s</span>
              </div>
            </div></section>`:l}
      </div>
      <div class=${this.evidence.length?"cols":""}>${this.steps(e)}${this.evidence.length?this.proof():l}</div>
      ${this.query?i`<details class="card"><summary>Query <span class="small faint">SPARQL, ${this.query.split(`
`).length} lines</span></summary>
            <div class="in stack">
              <label class="hide" for="sparql">The query, to change and run again</label>
              <textarea id="sparql" class="code" spellcheck="false" rows=${Math.min(24,this.query.split(`
`).length+1)} .value=${this.query}
                @input=${a=>this.query=a.target.value}></textarea>
              <div class="row"><button class="btn" @click=${()=>{this.again()}}>Run again</button>
              <button class="btn low" @click=${()=>location.hash=`#/${v("query",{query:this.query})}`}>Open in Query</button></div>
            </div></details>`:l}
      ${this.next(e)}`}steps(e){let t=(e.plan??[]).map(s=>s.sentence);return t.length?i`<section class="card"><header><h2>How I read it</h2></header>
      <div class="in"><ol class="steps">${t.map(s=>i`<li>${s}</li>`)}</ol></div></section>`:l}gaps(e,t){return i`<div class="note warn stack">
      ${e.map(s=>{let n=[s.subject,s.property,s.object];return i`<div><p class="v">${t?"Missing":"Not in the graph"}</p><p>${X(s.message)}</p>
          ${t?this.without(s.property):l}
          ${n.filter(r=>r&&r!=="?").length>1?i`<p class="st"><b>${s.subject}</b> <span>${s.property}</span> <b>${s.object}</b></p>`:l}</div>`})}
      <p class="small"><a href="#/text">Add a text that says it</a></p>
    </div>`}without(e){let t=this.question.replace(new RegExp(`\\b${e.replace(/[.*+?^${}()|[\]\\]/g,"\\$&")}\\b\\s*`,"i"),"");return!e||e==="?"||t===this.question?l:i`<p><a href=${`#/${v("ask",{q:t})}`}>Ask without “${e}”</a></p>`}next(e){let t=this.examples.filter(s=>s!==this.question).slice(0,2);return!t.length||e.answer===null?l:i`<div class="row"><span class="small faint">Ask next</span>${t.map(s=>i`<a class="chip plain" href=${`#/${v("ask",{q:s})}`}>${s}</a>`)}</div>`}pick(e){this.selected=e,this.requestUpdate()}more(){this.all=!0,this.requestUpdate()}didCopy(){this.copied=!0,this.requestUpdate()}failed(e){this.problem=e instanceof b?y(e):String(e),this.requestUpdate()}};function te(c){let d=c.classes[0]?F(c.classes[0]):"name";return i`<a class="chip k-${R(c.classes)}" href=${W(c.iri)}><i>${d}</i>${c.label||c.name}</a>`}function se(c,d){let e=c.answer??"",t=d?.results?.bindings??[],s=e.indexOf(": ");if(t.length>1&&s>0){let r=t.map(u=>u.label?.value).map(u=>u?e.lastIndexOf(u)+u.length:-1),a=/ and [\d,]+ more/.exec(e),p=Math.max(...r.filter(u=>u>s),a?a.index+a[0].length:-1);if(p>s)return{heading:`${e.slice(0,s)}.`,rest:e.slice(p).replace(/^\.\s*/,"")}}let n=/^(.{20,}?[.?!]) (?=[A-Z].{15,})/.exec(e);return n?{heading:n[1],rest:e.slice(n[0].length)}:{heading:e,rest:""}}function q({plan:c}){let d=c?.at(-1)?.tree;return d?[...M(d)]:[]}function*M(c){yield c;for(let d of Object.values(c))for(let e of Array.isArray(d)?d:[d])e&&typeof e=="object"&&"op"in e&&(yield*M(e))}function E(c){return c<1e3?`${c} m`:`${c/1e3} km`}customElements.define("ukg-ask",I);var x=[{name:"ask",title:"Ask",load:async()=>{}},{name:"text",title:"Text",load:()=>import("./text-4YAUXPOI.js")},{name:"review",title:"Review",load:()=>import("./review-FQNLLGYU.js")},{name:"explore",title:"Explore",load:()=>import("./explore-D3XNUSIZ.js")},{name:"query",title:"Query",load:()=>import("./query-UKS7OZ6B.js")},{name:"model",title:"Model",late:!0,load:()=>import("./model-272L4WY2.js")},{name:"status",title:"Status",late:!0,load:()=>import("./status-3GWSXZKL.js")}],P=class extends A{constructor(){super(...arguments);this.entry=x[0];this.parameters=new URLSearchParams;this.access={key:null,scopes:["read"]};this.waiting=null;this.element=null;this.problem="";this.signingIn="";this.known=!1}createRenderRoot(){return this}connectedCallback(){super.connectedCallback();let e=new URLSearchParams(location.search).get("theme")??localStorage.getItem("urbankg.theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e),addEventListener("hashchange",()=>{this.open(!0)}),addEventListener("keydown",t=>this.pressed(t)),addEventListener("urbankg-review",()=>{this.count()}),this.start()}async start(){let e=this.learnAccess();this.known=!/^#\/(?!ask)/.test(location.hash),await Promise.all([this.open(!1),e]),this.element.access=this.access,this.requestUpdate(),this.count()}async learnAccess(){try{this.access=await m("access")}catch(e){e instanceof b&&e.status===401?(w.set(null),this.problem="The key of this tab is no longer valid. Sign in again."):this.problem=y(e)}this.known=!0}async count(){try{this.waiting=(await m("review?limit=1")).total}catch{this.waiting=null}this.requestUpdate()}async open(e){let[t="",s=""]=location.hash.replace(/^#\/?/,"").split("?",2),[n="",...r]=t.split("/"),a=this.entry;this.entry=x.find(p=>p.name===n)??x[0],this.parameters=new URLSearchParams(s),r.length&&this.parameters.set("id",decodeURIComponent(r.join("/")));try{await this.entry.load()}catch{this.problem="A part of the page could not be loaded. Reload it."}if(document.title=`${this.entry.title} \xB7 UrbanKG`,(!this.element||a!==this.entry)&&(this.element=document.createElement(`ukg-${this.entry.name}`)),this.element.access=this.access,this.element.parameters=this.parameters,this.requestUpdate(),await this.updateComplete,e&&a!==this.entry){scrollTo(0,0);let p=this.querySelector("main");await this.element.updateComplete,p.contains(document.activeElement)||p.focus({preventScroll:!0})}}pressed(e){let t=e.target;if(e.key==="/"&&!/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)&&!e.ctrlKey&&!e.metaKey){e.preventDefault();let s=this.querySelector("main input[type=search], main .ask input");this.entry.name==="explore"?s?.focus():location.hash="#/explore"}}theme(){let e=document.documentElement,t=e.dataset.theme??(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light");e.dataset.theme=t==="dark"?"light":"dark",localStorage.setItem("urbankg.theme",e.dataset.theme)}dialog(){return this.querySelector("dialog")}async signIn(e){e.preventDefault();let t=this.querySelector("#key");w.set(t.value.trim());try{this.access=await m("access"),t.value="",this.signingIn="",this.problem="",this.dialog().close(),await this.changed()}catch(s){w.set(null),this.signingIn=y(s).replace(" Sign in with a key.",""),this.requestUpdate()}}async signOut(){w.set(null),await this.learnAccess(),await this.changed()}async changed(){j(),this.element=null,await this.open(!1),this.count()}render(){let e=this.access.key!==null;return i`
      <a class="skip" href="#main" @click=${t=>this.skip(t)}>Skip to content</a>
      <header class="top">
        <a class="brand" href="#/ask">${ie}UrbanKG</a>
        <nav class="nav" aria-label="Main">
          ${x.map(t=>i`<a href="#/${t.name}" class=${t.late?"late":l} aria-current=${t===this.entry?"page":l}
              ><span>${t.title}${t.name==="review"&&this.waiting?i` <span class="count">${this.waiting}</span>`:l}</span></a
            >`)}
        </nav>
        <div class="tools">
          <form class="find" role="search" @submit=${t=>this.find(t)}>
            <label class="hide" for="find">Find a place or name</label>
            <input id="find" placeholder="Find a place or name" autocomplete="off" /><kbd>/</kbd>
          </form>
          <a class="icon late-tool" href="#/model" aria-label="Model">${ne}</a>
          <a class="icon late-tool" href="#/status" aria-label="Status">${re}</a>
          <button class="icon" aria-label="Light or dark" @click=${()=>this.theme()}>${ae}</button>
          ${e?i`<button class="btn low" @click=${()=>{this.signOut()}}>Sign out ${this.access.key}</button>`:i`<button class="btn low" @click=${()=>this.dialog().showModal()}>Sign in</button>`}
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${this.problem?i`<div class="note warn" role="alert"><p>${this.problem}</p></div>`:l}
        ${this.known?this.element:l}
      </main>
      <dialog aria-labelledby="sign">
        <form class="stack" @submit=${t=>{this.signIn(t)}}>
          <h2 id="sign">Sign in with a key</h2>
          <p class="small soft">The key stays in this tab and is gone when you close it. Who runs the server makes keys.</p>
          <label class="field">Key<input id="key" type="password" autocomplete="off" required spellcheck="false" /></label>
          ${this.signingIn?i`<p class="v no" role="alert">${this.signingIn}</p>`:l}
          <div class="row"><button class="btn main">Sign in</button><button class="btn" type="button" @click=${()=>this.dialog().close()}>Cancel</button></div>
        </form>
      </dialog>`}find(e){e.preventDefault();let t=this.querySelector("#find");t.value.trim()&&(location.hash=`#/explore?q=${encodeURIComponent(t.value.trim())}`)}skip(e){e.preventDefault(),this.querySelector("main").focus()}},ie=i`<svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true"><path d="M6.5 7.5 15 5M6.8 9l3.6 6.5M15.6 6.8 12 15" /><circle cx="5" cy="8" r="2.6" fill="currentColor" /><circle cx="16.8" cy="4.6" r="2.2" /><circle cx="11.2" cy="17" r="2.6" /></svg>`,ae=i`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M9 2.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" /></svg>`,ne=i`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M4 3v9.5a1.5 1.5 0 0 0 1.5 1.5H9M4 7h5" /><path d="M12 7h3M12 14h3" /></svg>`,re=i`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M3 15V9M9 15V3M15 15V7" /></svg>`;customElements.define("ukg-app",P);
