import{a as H,b as O,c as K,d as N,e as j,f as G}from"./chunk-IQCMCQM2.js";import{a as P,b as U,e as F}from"./chunk-3US2SGUL.js";import{c as n,d as o,e as S,f as v,g as m,h as u,j as T,k as y,l as g,m as f,q as R,r as C,s as I,t as b,u as M,v as A,x as L}from"./chunk-POY76U52.js";var W=`PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?class ?region (SAMPLE(?name) AS ?label) (COUNT(DISTINCT ?x) AS ?n) WHERE {
  ?x geo:rcc8ntpp ?region ; a ?class . ?class rdfs:label ?word . ?region rdfs:label ?name
} GROUP BY ?class ?region HAVING (COUNT(DISTINCT ?x) > 3 && COUNT(DISTINCT ?x) < 30) ORDER BY DESC(?n) LIMIT 60`,$;async function D(){let s=await y(W),{labels:c}=await C(),e=new Set,t=new Set,i=[];for(let l of s){let a=c.get(l.class?.value??""),r=l.label?.value;if(!a||!r||e.has(a)||t.has(r))continue;e.add(a),t.add(r);let h=X(a);if(i.push([`Which ${h} are in ${r}?`,`How many ${h} are in ${r}?`,`Which ${h} are in ${r}?`][i.length]),i.length===3)break}return i}function X(s){return/[^aeiou]y$/.test(s)?`${s.slice(0,-1)}ies`:/(s|x|ch|sh)$/.test(s)?`${s}es`:`${s}s`}var q=class extends P{constructor(){super(...arguments);this.question="";this.context="";this.withContext=!1;this.reply=null;this.asked="";this.seconds=0;this.query="";this.results=null;this.map=null;this.reference=null;this.around=null;this.selected=null;this.all=!1;this.copied=!1;this.changed=!1;this.examples=[]}connectedCallback(){super.connectedCallback(),$??=D(),$.then(e=>{this.examples=e,this.requestUpdate()},()=>$=void 0)}willUpdate(e){if(!e.has("parameters"))return;let t=this.parameters.get("q")??"";this.question=t,this.context=this.parameters.get("context")??"",this.withContext||=this.context!=="",t&&`${t}
${this.context}`!==this.asked&&this.answer(),t||(this.reply=null,this.asked="")}firstUpdated(){matchMedia("(min-width: 60rem)").matches&&this.querySelector("#q")?.focus()}send(e){e.preventDefault();let t=this.question.trim();if(!t)return;this.asked="";let i=`#/${g("ask",{q:t,context:this.context.trim()})}`;location.hash===i?this.answer():location.hash=i}async answer(){this.abort?.abort();let e=this.abort=new AbortController,{question:t,context:i}=this;this.asked=`${t}
${i}`,this.reply=null;let l=performance.now(),a=await this.run("Linking names\u2026 Planning\u2026 Asking the graph\u2026",()=>u("ask",{json:{question:t,...i?{context:i}:{}},signal:e.signal}));if(!(!a||e.signal.aborted)){this.seconds=(performance.now()-l)/1e3,this.reply=a,this.query=a.sparql??"",this.changed=!1;for(let r of a.entities??[])M(r.iri,r.label);this.show(a.results??null,a.map??null),document.title=`${t} \xB7 UrbanKG`,await this.draw(a).catch(()=>{}),this.requestUpdate()}}show(e,t){this.results=e,this.map=O(t),this.selected=null,this.all=!1,this.copied=!1,this.map&&import("./map-IIEG7PAX.js");let i=(e?.results?.bindings??[]).flatMap(l=>Object.values(l).filter(a=>a.type==="uri").map(a=>a.value));I(i.slice(0,600)).then(()=>this.requestUpdate(),()=>{}),this.requestUpdate()}async draw(e){this.reference=this.around=null;let t=(e.plan??[]).filter(p=>typeof p=="object"),i=t.map(p=>p.iris?.of).filter(p=>!!p&&b(p));if(!i.length||!this.map)return;let l=t.find(p=>p.op==="near"),a=await u(`features?${new URLSearchParams([...i.map(p=>["iri",p]),["tolerance","0.0001"]])}`);this.reference=a;let r=Number(l?.km)||Number(/taken as ([\d.]+) km/.exec(e.answer??"")?.[1]),h=l?.iris?.of;if(!h||!r||!b(h))return;let x=(await y(`PREFIX geo: <http://www.opengis.net/ont/geosparql#>
      PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
      SELECT (geof:buffer(?wkt, ${r*1e3}, uom:metre) AS ?around) WHERE {
        <${h}> (geo:hasDefaultGeometry|geo:hasGeometry)/geo:asWKT ?wkt } LIMIT 1`))[0]?.around;x&&(this.around=j(x.value))}async again(){let e=await this.run("Asking the graph\u2026",()=>T(this.query));e&&(this.changed=this.query!==this.reply?.sparql,this.show(e,G(e)))}render(){return n`<div class="gap">
      <div class="stack">
        <form class="ask" role="search" @submit=${e=>this.send(e)}>
          <label class="hide" for="q">Your question</label>
          <input id="q" .value=${this.question} enterkeyhint="send" autocomplete="off" placeholder="Ask about places"
            @input=${e=>this.question=e.target.value} />
          <button class="btn main">Ask <kbd class="wide">↵</kbd></button>
        </form>
        ${this.withContext?n`<label class="field">What else to consider<input id="context" .value=${this.context} autocomplete="off"
                @input=${e=>this.context=e.target.value}
                @keydown=${e=>e.key==="Enter"&&this.send(e)} /></label>`:o}
        <div class="row">
          ${this.reply?.entities?.length?n`<span class="small faint">Read as</span>${this.reply.entities.map(B)}`:o}
          ${this.withContext?o:n`<button class="btn low push" @click=${()=>this.addContext()}>Add context</button>`}
        </div>
      </div>
      ${this.state()} ${this.reply?this.answered(this.reply):this.working||this.problem||this.parameters.get("q")?o:this.empty()}
    </div>`}async addContext(){this.withContext=!0,this.requestUpdate(),await this.updateComplete,this.querySelector("#context").focus()}empty(){return n`<section class="start stack">
      <h1>Ask about the places of this graph</h1>
      <p class="soft">Write a question as you would say it. The answer comes with its map, the query that found it, and what was assumed.</p>
      ${this.examples.length?n`<div class="row"><span class="small faint">Try</span>${this.examples.map(e=>n`<a class="chip plain" href=${`#/${g("ask",{q:e})}`}>${e}</a>`)}</div>`:o}
    </section>`}answered(e){let{heading:t,rest:i}=Q(e,this.results),l=this.results?.results?.bindings.length??0,a=e.gaps??[];return n`<div class=${this.map?"answer":"answer alone"}>
        <section class="head stack" aria-live="polite">
          <h1>${e.answer===null?"I cannot answer this from the graph.":t}</h1>
          ${i?n`<p class="small soft">${i}</p>`:o}
          ${this.changed?n`<p class="small soft">The list shows your changed query, not the question.</p>`:o}
          ${a.length?this.gaps(a,e.answer===null):o}
        </section>
        ${this.map?n`<ukg-map .data=${this.map} .reference=${this.reference} .around=${this.around} .selected=${this.selected}
              label="Map of the answer. The list has the same numbers."
              @pick=${r=>this.pick(r.detail)}></ukg-map>`:o}
        ${this.results?.head.vars&&l?n`<section class="rest"><div class="card">
              ${H(this.results,{map:this.map,selected:this.selected,all:this.all,pick:r=>this.pick(r),more:()=>this.more()})}
              <div class="row ruled">
                ${N("ask",{q:this.question,context:this.context},()=>this.didCopy(),this.copied)}
                ${K(this.query,this.map,"answer",r=>this.failed(r))}
                <span class="push small faint num">${l.toLocaleString("en")} ${l===1?"row":"rows"} · ${this.seconds.toFixed(1)} s</span>
              </div>
            </div></section>`:o}
      </div>
      ${this.steps(e)}
      ${this.query?n`<details class="card"><summary>Query <span class="small faint">SPARQL, ${this.query.split(`
`).length} lines</span></summary>
            <div class="in stack">
              <label class="hide" for="sparql">The query, to change and run again</label>
              <textarea id="sparql" class="code" spellcheck="false" rows=${Math.min(24,this.query.split(`
`).length+1)} .value=${this.query}
                @input=${r=>this.query=r.target.value}></textarea>
              <div class="row"><button class="btn" @click=${()=>{this.again()}}>Run again</button>
              <button class="btn low" @click=${()=>location.hash=`#/${g("query",{query:this.query})}`}>Open in Query</button></div>
            </div></details>`:o}
      ${this.next(e)}`}steps(e){let t=V(e);return t.length?n`<section class="card"><header><h2>How I read it</h2></header>
      <div class="in"><ol class="steps">${t.map(i=>n`<li>${i}</li>`)}</ol></div></section>`:o}gaps(e,t){return n`<div class="note warn stack">
      ${e.map(i=>{let l=[i.subject,i.property,i.object];return n`<div><p class="v">${t?"Missing":"Not in the graph"}</p><p>${F(i.message)}</p>
          ${l.filter(a=>a&&a!=="?").length>1?n`<p class="st"><b>${i.subject}</b> <span>${i.property}</span> <b>${i.object}</b></p>`:o}</div>`})}
      <p class="small"><a href="#/text">Add a text that says it</a></p>
    </div>`}next(e){let t=this.examples.filter(i=>i!==this.question).slice(0,2);return!t.length||e.answer===null?o:n`<div class="row"><span class="small faint">Ask next</span>${t.map(i=>n`<a class="chip plain" href=${`#/${g("ask",{q:i})}`}>${i}</a>`)}</div>`}pick(e){this.selected=e,this.requestUpdate()}more(){this.all=!0,this.requestUpdate()}didCopy(){this.copied=!0,this.requestUpdate()}failed(e){this.problem=e instanceof v?f(e):String(e),this.requestUpdate()}};function B(s){let c=s.classes[0]?A(s.classes[0]):"name";return n`<a class="chip k-${L(s.classes)}" href=${U(s.iri)}><i>${c}</i>${s.label||s.name}</a>`}function Q(s,c){let e=s.answer??"",t=c?.results?.bindings??[],i=e.indexOf(": ");if(t.length>1&&i>0){let a=t.map(d=>d.label?.value).map(d=>d?e.lastIndexOf(d)+d.length:-1),r=/ and [\d,]+ more/.exec(e),h=Math.max(...a.filter(d=>d>i),r?r.index+r[0].length:-1);if(h>i)return{heading:`${e.slice(0,i)}.`,rest:e.slice(h).replace(/^\.\s*/,"")}}let l=/^(.{20,}?[.?!]) (?=[A-Z].{15,})/.exec(e);return l?{heading:l[1],rest:e.slice(l[0].length)}:{heading:e,rest:""}}function V(s){for(let c of["steps","plan_in_words","reading"]){let e=s[c];if(Array.isArray(e)&&e.every(t=>typeof t=="string"))return e.map(k)}return(s.plan??[]).map(c=>{if(typeof c=="string")return k(c);for(let e of["words","sentence","text"])if(typeof c[e]=="string")return k(c[e]);return _(c)})}function k(s){return s.replace(/^\s*\d+[.)]\s*/,"")}var Y={entity:s=>`Take ${s.name}.`,find:s=>`Find every ${s.class}, of any kind.`,relate:s=>`Follow \u201C${s.property}\u201D${s.to?` to ${s.to}`:""}.`,within:s=>`Keep those within ${s.of}.`,near:s=>s.km?`Keep those less than ${s.km} km from ${s.of}.`:`Keep those near ${s.of}.`,touches:s=>`Keep those that touch ${s.of}.`,nearest:s=>`Keep the ${s.number||""} nearest to ${s.of}.`.replace("  "," "),direction:s=>`Keep those ${s.side} of ${s.of}.`,count:()=>"Count them."};function _(s){let c=Y[s.op??""];if(c)return c(s);let e=Object.entries(s).filter(([t,i])=>t!=="op"&&t!=="iris"&&typeof i!="object");return`${s.op}: ${e.map(([t,i])=>`${t} ${String(i)}`).join(", ")}`}customElements.define("ukg-ask",q);var w=[{name:"ask",title:"Ask",load:async()=>{}},{name:"text",title:"Text",load:()=>import("./text-OHFUAZAX.js")},{name:"review",title:"Review",load:()=>import("./review-RLWQQWSW.js")},{name:"explore",title:"Explore",load:()=>import("./explore-BSHFOCHA.js")},{name:"query",title:"Query",load:()=>import("./query-UNO7SS2R.js")},{name:"status",title:"Status",late:!0,load:()=>import("./status-SXJ2GAE3.js")}],E=class extends S{constructor(){super(...arguments);this.entry=w[0];this.parameters=new URLSearchParams;this.access={key:null,scopes:["read"]};this.waiting=null;this.element=null;this.problem="";this.signingIn="";this.known=!1}createRenderRoot(){return this}connectedCallback(){super.connectedCallback();let e=new URLSearchParams(location.search).get("theme")??localStorage.getItem("urbankg.theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e),addEventListener("hashchange",()=>{this.open(!0)}),addEventListener("keydown",t=>this.pressed(t)),addEventListener("urbankg-review",()=>{this.count()}),this.start()}async start(){await this.learnAccess(),await this.open(!1),this.count()}async learnAccess(){try{this.access=await u("access")}catch(e){e instanceof v&&e.status===401?(m.set(null),this.problem="The key of this tab is no longer valid. Sign in again."):this.problem=f(e)}this.known=!0}async count(){try{this.waiting=(await u("review?limit=1")).total}catch{this.waiting=null}this.requestUpdate()}async open(e){let[t="",i=""]=location.hash.replace(/^#\/?/,"").split("?",2),[l="",...a]=t.split("/"),r=this.entry;this.entry=w.find(h=>h.name===l)??w[0],this.parameters=new URLSearchParams(i),a.length&&this.parameters.set("id",decodeURIComponent(a.join("/")));try{await this.entry.load()}catch{this.problem="A part of the page could not be loaded. Reload it."}if(document.title=`${this.entry.title} \xB7 UrbanKG`,(!this.element||r!==this.entry)&&(this.element=document.createElement(`ukg-${this.entry.name}`)),this.element.access=this.access,this.element.parameters=this.parameters,this.requestUpdate(),await this.updateComplete,e&&r!==this.entry){scrollTo(0,0);let h=this.querySelector("main");await this.element.updateComplete,h.contains(document.activeElement)||h.focus({preventScroll:!0})}}pressed(e){let t=e.target;if(e.key==="/"&&!/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)&&!e.ctrlKey&&!e.metaKey){e.preventDefault();let i=this.querySelector("main input[type=search], main .ask input");this.entry.name==="explore"?i?.focus():location.hash="#/explore"}}theme(){let e=document.documentElement,t=e.dataset.theme??(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light");e.dataset.theme=t==="dark"?"light":"dark",localStorage.setItem("urbankg.theme",e.dataset.theme)}dialog(){return this.querySelector("dialog")}async signIn(e){e.preventDefault();let t=this.querySelector("#key");m.set(t.value.trim());try{this.access=await u("access"),t.value="",this.signingIn="",this.problem="",this.dialog().close(),await this.changed()}catch(i){m.set(null),this.signingIn=f(i).replace(" Sign in with a key.",""),this.requestUpdate()}}async signOut(){m.set(null),await this.learnAccess(),await this.changed()}async changed(){R(),this.element=null,await this.open(!1),this.count()}render(){let e=this.access.key!==null;return n`
      <a class="skip" href="#main" @click=${t=>this.skip(t)}>Skip to content</a>
      <header class="top">
        <a class="brand" href="#/ask">${z}UrbanKG</a>
        <nav class="nav" aria-label="Main">
          ${w.map(t=>n`<a href="#/${t.name}" class=${t.late?"late":o} aria-current=${t===this.entry?"page":o}
              ><span>${t.title}${t.name==="review"&&this.waiting?n` <span class="count">${this.waiting}</span>`:o}</span></a
            >`)}
        </nav>
        <div class="tools">
          <form class="find" role="search" @submit=${t=>this.find(t)}>
            <label class="hide" for="find">Find a place or name</label>
            <input id="find" placeholder="Find a place or name" autocomplete="off" /><kbd>/</kbd>
          </form>
          <a class="icon late-tool" href="#/status" aria-label="Status">${J}</a>
          <button class="icon" aria-label="Light or dark" @click=${()=>this.theme()}>${Z}</button>
          ${e?n`<button class="btn low" @click=${()=>{this.signOut()}}>Sign out ${this.access.key}</button>`:n`<button class="btn low" @click=${()=>this.dialog().showModal()}>Sign in</button>`}
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${this.problem?n`<div class="note warn" role="alert"><p>${this.problem}</p></div>`:o}
        ${this.known?this.element:o}
      </main>
      <dialog aria-labelledby="sign">
        <form class="stack" @submit=${t=>{this.signIn(t)}}>
          <h2 id="sign">Sign in with a key</h2>
          <p class="small soft">The key stays in this tab and is gone when you close it. Who runs the server makes keys.</p>
          <label class="field">Key<input id="key" type="password" autocomplete="off" required spellcheck="false" /></label>
          ${this.signingIn?n`<p class="v no" role="alert">${this.signingIn}</p>`:o}
          <div class="row"><button class="btn main">Sign in</button><button class="btn" type="button" @click=${()=>this.dialog().close()}>Cancel</button></div>
        </form>
      </dialog>`}find(e){e.preventDefault();let t=this.querySelector("#find");t.value.trim()&&(location.hash=`#/explore?q=${encodeURIComponent(t.value.trim())}`)}skip(e){e.preventDefault(),this.querySelector("main").focus()}},z=n`<svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true"><path d="M6.5 7.5 15 5M6.8 9l3.6 6.5M15.6 6.8 12 15" /><circle cx="5" cy="8" r="2.6" fill="currentColor" /><circle cx="16.8" cy="4.6" r="2.2" /><circle cx="11.2" cy="17" r="2.6" /></svg>`,Z=n`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M9 2.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" /></svg>`,J=n`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M3 15V9M9 15V3M15 15V7" /></svg>`;customElements.define("ukg-app",E);
