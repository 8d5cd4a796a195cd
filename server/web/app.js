import{a as F,b as G,c as D,d as j,e as W,f as K}from"./chunk-D62WDU3O.js";import{a as H,b as N,e as O}from"./chunk-WIYGO5E6.js";import{c as i,d as o,e as C,f as v,g,h as u,j as I,k as b,l as m,m as f,q as P,r as M,s as A,t as $,u as L,v as U,x as k}from"./chunk-VH2RXPTR.js";var X=`PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?class ?region (SAMPLE(?name) AS ?label) (COUNT(DISTINCT ?x) AS ?n) WHERE {
  ?x geo:rcc8ntpp ?region ; a ?class . ?class rdfs:label ?word . ?region rdfs:label ?name
} GROUP BY ?class ?region HAVING (COUNT(DISTINCT ?x) > 3 && COUNT(DISTINCT ?x) < 30) ORDER BY DESC(?n) LIMIT 60`,q;async function B(){let n=await b(X),{labels:c}=await M(),e=new Set,t=new Set,s=[];for(let r of n){let l=c.get(r.class?.value??""),a=r.label?.value;if(!l||!a||e.has(l)||t.has(a))continue;e.add(l),t.add(a);let h=Q(l);if(s.push([`Which ${h} are in ${a}?`,`How many ${h} are in ${a}?`,`Which ${h} are in ${a}?`][s.length]),s.length===3)break}return s}function Q(n){return/[^aeiou]y$/.test(n)?`${n.slice(0,-1)}ies`:/(s|x|ch|sh)$/.test(n)?`${n}es`:`${n}s`}var E=class extends H{constructor(){super(...arguments);this.question="";this.context="";this.withContext=!1;this.reply=null;this.asked="";this.seconds=0;this.query="";this.results=null;this.map=null;this.reference=null;this.around=null;this.selected=null;this.all=!1;this.copied=!1;this.changed=!1;this.examples=[]}connectedCallback(){super.connectedCallback(),q??=B(),q.then(e=>{this.examples=e,this.requestUpdate()},()=>q=void 0)}willUpdate(e){if(!e.has("parameters"))return;let t=this.parameters.get("q")??"";this.question=t,this.context=this.parameters.get("context")??"",this.withContext||=this.context!=="",t&&`${t}
${this.context}`!==this.asked&&this.answer(),t||(this.reply=null,this.asked="")}firstUpdated(){matchMedia("(min-width: 60rem)").matches&&this.querySelector("#q")?.focus()}send(e){e.preventDefault();let t=this.question.trim();if(!t)return;this.asked="";let s=`#/${m("ask",{q:t,context:this.context.trim()})}`;location.hash===s?this.answer():location.hash=s}async answer(){this.abort?.abort();let e=this.abort=new AbortController,{question:t,context:s}=this;this.asked=`${t}
${s}`,this.reply=null;let r=performance.now(),l=await this.run("Linking names\u2026 Planning\u2026 Asking the graph\u2026",()=>u("ask",{json:{question:t,...s?{context:s}:{}},signal:e.signal}));if(!(!l||e.signal.aborted)){this.seconds=(performance.now()-r)/1e3,this.reply=l,this.query=l.sparql??"",this.changed=!1;for(let a of l.entities??[])L(a.iri,a.label);this.show(l.results??null,l.map??null),document.title=`${t} \xB7 UrbanKG`,await this.draw(l).catch(()=>{}),this.requestUpdate()}}show(e,t){this.results=e,this.map=G(t),this.selected=null,this.all=!1,this.copied=!1,this.map&&import("./map-LYBTHRSH.js");let s=(e?.results?.bindings??[]).flatMap(r=>Object.values(r).filter(l=>l.type==="uri").map(l=>l.value));A(s.slice(0,600)).then(()=>this.requestUpdate(),()=>{}),this.requestUpdate()}async draw(e){this.reference=this.around=null;let t=x(e),s=t.map(p=>p.entity?.iri).filter(p=>!!p&&$(p)),r=new Set(this.map?.features.map(p=>p.properties?.iri)),l=s.filter(p=>!r.has(p));if(!l.length||!this.map)return;this.reference=await u(`features?${new URLSearchParams([...l.map(p=>["iri",p]),["tolerance","0.0001"]])}`);let a=t.find(p=>p.op==="near"&&p.meters),h=a?[...R(a)].find(p=>p.entity)?.entity?.iri:void 0;if(!a||!h||!$(h))return;let S=(await b(`PREFIX geo: <http://www.opengis.net/ont/geosparql#>
      PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
      SELECT (geof:buffer(?wkt, ${a.meters}, uom:metre) AS ?around) WHERE {
        <${h}> (geo:hasDefaultGeometry|geo:hasGeometry)/geo:asWKT ?wkt } LIMIT 1`))[0]?.around;S&&(this.around=W(S.value))}async again(){let e=await this.run("Asking the graph\u2026",()=>I(this.query));e&&(this.changed=this.query!==this.reply?.sparql,this.show(e,K(e)))}render(){return i`<div class="gap">
      <div class="stack">
        <form class="ask" role="search" @submit=${e=>this.send(e)}>
          <label class="hide" for="q">Your question</label>
          <input id="q" .value=${this.question} enterkeyhint="send" autocomplete="off" placeholder="Ask about places"
            @input=${e=>this.question=e.target.value} />
          <button class="btn main">Ask <kbd class="wide">↵</kbd></button>
        </form>
        ${this.withContext?i`<label class="field">What else to consider<input id="context" .value=${this.context} autocomplete="off"
                @input=${e=>this.context=e.target.value}
                @keydown=${e=>e.key==="Enter"&&this.send(e)} /></label>`:o}
        <div class="row">
          ${this.reply?this.readAs(this.reply):o}
          ${this.withContext?o:i`<button class="btn low push" @click=${()=>this.addContext()}>Add context</button>`}
        </div>
      </div>
      ${this.state()} ${this.reply?this.answered(this.reply):this.working||this.problem||this.parameters.get("q")?o:this.empty()}
    </div>`}readAs(e){let t=x(e),s=t.filter(a=>a.op==="kind").map(a=>a.of),r=t.find(a=>a.op==="near"&&a.meters),l=e.entities??[];return!s.length&&!l.length?o:i`<span class="small faint">Read as</span>
      ${s.map(a=>i`<span class="chip still k-${k([a.iri])}"><i>kind</i>${a.label}</span>`)}
      ${r?i`<span class="chip still k-value"><i>near</i>within ${y(r.meters)}</span>`:o}
      ${l.map(V)}`}distances(e){let t=x(e).find(r=>r.op==="near"&&r.assumed&&r.meters);if(!t||!/\bnear\b/.test(this.question))return o;let s=r=>this.question.replace(/\bnear\b/,`within ${y(r)} of`);return i`<nav class="seg" aria-label="Distance">${[t.meters/2,t.meters,t.meters*2].map(r=>r===t.meters?i`<a aria-current="true">${y(r)}</a>`:i`<a href=${`#/${m("ask",{q:s(r)})}`}>${y(r)}</a>`)}</nav>`}async addContext(){this.withContext=!0,this.requestUpdate(),await this.updateComplete,this.querySelector("#context").focus()}empty(){return i`<section class="start stack">
      <h1>Ask about the places of this graph</h1>
      <p class="soft">Write a question as you would say it. The answer comes with its map, the query that found it, and what was assumed.</p>
      ${this.examples.length?i`<div class="row"><span class="small faint">Try</span>${this.examples.map(e=>i`<a class="chip plain" href=${`#/${m("ask",{q:e})}`}>${e}</a>`)}</div>`:o}
    </section>`}answered(e){let{heading:t,rest:s}=Y(e,this.results),r=this.results?.results?.bindings.length??0,l=e.gaps??[];return i`<div class=${this.map?"answer":"answer alone"}>
        <section class="head stack" aria-live="polite">
          <h1>${e.answer===null?"I cannot answer this from the graph.":t}</h1>
          ${s&&!this.changed?i`<div class="row small soft"><span>${s}</span>${this.distances(e)}</div>`:o}
          ${this.changed?i`<p class="small soft">The list shows your changed query, not the question.</p>`:o}
          ${l.length?this.gaps(l,e.answer===null):o}
        </section>
        ${this.map?i`<ukg-map .data=${this.map} .reference=${this.reference} .around=${this.around} .selected=${this.selected}
              label="Map of the answer. The list has the same numbers."
              @pick=${a=>this.pick(a.detail)}></ukg-map>`:o}
        ${this.results?.head.vars&&r?i`<section class="rest"><div class="card">
              ${F(this.results,{map:this.map,selected:this.selected,all:this.all,pick:a=>this.pick(a),more:()=>this.more()})}
              <div class="row ruled">
                ${j("ask",{q:this.question,context:this.context},()=>this.didCopy(),this.copied)}
                ${D(this.query,this.map,"answer",a=>this.failed(a))}
                <span class="push small faint num">${r.toLocaleString("en")} ${r===1?"row":"rows"} · ${this.seconds.toFixed(1)} s</span>
              </div>
            </div></section>`:o}
      </div>
      ${this.steps(e)}
      ${this.query?i`<details class="card"><summary>Query <span class="small faint">SPARQL, ${this.query.split(`
`).length} lines</span></summary>
            <div class="in stack">
              <label class="hide" for="sparql">The query, to change and run again</label>
              <textarea id="sparql" class="code" spellcheck="false" rows=${Math.min(24,this.query.split(`
`).length+1)} .value=${this.query}
                @input=${a=>this.query=a.target.value}></textarea>
              <div class="row"><button class="btn" @click=${()=>{this.again()}}>Run again</button>
              <button class="btn low" @click=${()=>location.hash=`#/${m("query",{query:this.query})}`}>Open in Query</button></div>
            </div></details>`:o}
      ${this.next(e)}`}steps(e){let t=z(e);return t.length?i`<section class="card"><header><h2>How I read it</h2></header>
      <div class="in"><ol class="steps">${t.map(s=>i`<li>${s}</li>`)}</ol></div></section>`:o}gaps(e,t){return i`<div class="note warn stack">
      ${e.map(s=>{let r=[s.subject,s.property,s.object];return i`<div><p class="v">${t?"Missing":"Not in the graph"}</p><p>${O(s.message)}</p>
          ${t?this.without(s.property):o}
          ${r.filter(l=>l&&l!=="?").length>1?i`<p class="st"><b>${s.subject}</b> <span>${s.property}</span> <b>${s.object}</b></p>`:o}</div>`})}
      <p class="small"><a href="#/text">Add a text that says it</a></p>
    </div>`}without(e){let t=this.question.replace(new RegExp(`\\b${e.replace(/[.*+?^${}()|[\]\\]/g,"\\$&")}\\b\\s*`,"i"),"");return!e||e==="?"||t===this.question?o:i`<p><a href=${`#/${m("ask",{q:t})}`}>Ask without “${e}”</a></p>`}next(e){let t=this.examples.filter(s=>s!==this.question).slice(0,2);return!t.length||e.answer===null?o:i`<div class="row"><span class="small faint">Ask next</span>${t.map(s=>i`<a class="chip plain" href=${`#/${m("ask",{q:s})}`}>${s}</a>`)}</div>`}pick(e){this.selected=e,this.requestUpdate()}more(){this.all=!0,this.requestUpdate()}didCopy(){this.copied=!0,this.requestUpdate()}failed(e){this.problem=e instanceof v?f(e):String(e),this.requestUpdate()}};function V(n){let c=n.classes[0]?U(n.classes[0]):"name";return i`<a class="chip k-${k(n.classes)}" href=${N(n.iri)}><i>${c}</i>${n.label||n.name}</a>`}function Y(n,c){let e=n.answer??"",t=c?.results?.bindings??[],s=e.indexOf(": ");if(t.length>1&&s>0){let l=t.map(d=>d.label?.value).map(d=>d?e.lastIndexOf(d)+d.length:-1),a=/ and [\d,]+ more/.exec(e),h=Math.max(...l.filter(d=>d>s),a?a.index+a[0].length:-1);if(h>s)return{heading:`${e.slice(0,s)}.`,rest:e.slice(h).replace(/^\.\s*/,"")}}let r=/^(.{20,}?[.?!]) (?=[A-Z].{15,})/.exec(e);return r?{heading:r[1],rest:e.slice(r[0].length)}:{heading:e,rest:""}}function z({plan:n}){return n?(Array.isArray(n)?n.map(e=>e.sentence):n.steps).map(e=>e.replace(/^\d+\. /,"")):[]}function x({plan:n}){let c=Array.isArray(n)?n.at(-1)?.tree:n?.tree;return c?[...R(c)]:[]}function*R(n){yield n;for(let c of Object.values(n))for(let e of Array.isArray(c)?c:[c])e&&typeof e=="object"&&"op"in e&&(yield*R(e))}function y(n){return n<1e3?`${n} m`:`${n/1e3} km`}customElements.define("ukg-ask",E);var w=[{name:"ask",title:"Ask",load:async()=>{}},{name:"text",title:"Text",load:()=>import("./text-4YAUXPOI.js")},{name:"review",title:"Review",load:()=>import("./review-FQNLLGYU.js")},{name:"explore",title:"Explore",load:()=>import("./explore-IJD3CNAQ.js")},{name:"query",title:"Query",load:()=>import("./query-YWHTJTPM.js")},{name:"model",title:"Model",late:!0,load:()=>import("./model-272L4WY2.js")},{name:"status",title:"Status",late:!0,load:()=>import("./status-3GWSXZKL.js")}],T=class extends C{constructor(){super(...arguments);this.entry=w[0];this.parameters=new URLSearchParams;this.access={key:null,scopes:["read"]};this.waiting=null;this.element=null;this.problem="";this.signingIn="";this.known=!1}createRenderRoot(){return this}connectedCallback(){super.connectedCallback();let e=new URLSearchParams(location.search).get("theme")??localStorage.getItem("urbankg.theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e),addEventListener("hashchange",()=>{this.open(!0)}),addEventListener("keydown",t=>this.pressed(t)),addEventListener("urbankg-review",()=>{this.count()}),this.start()}async start(){let e=this.learnAccess();this.known=!/^#\/(?!ask)/.test(location.hash),await Promise.all([this.open(!1),e]),this.element.access=this.access,this.requestUpdate(),this.count()}async learnAccess(){try{this.access=await u("access")}catch(e){e instanceof v&&e.status===401?(g.set(null),this.problem="The key of this tab is no longer valid. Sign in again."):this.problem=f(e)}this.known=!0}async count(){try{this.waiting=(await u("review?limit=1")).total}catch{this.waiting=null}this.requestUpdate()}async open(e){let[t="",s=""]=location.hash.replace(/^#\/?/,"").split("?",2),[r="",...l]=t.split("/"),a=this.entry;this.entry=w.find(h=>h.name===r)??w[0],this.parameters=new URLSearchParams(s),l.length&&this.parameters.set("id",decodeURIComponent(l.join("/")));try{await this.entry.load()}catch{this.problem="A part of the page could not be loaded. Reload it."}if(document.title=`${this.entry.title} \xB7 UrbanKG`,(!this.element||a!==this.entry)&&(this.element=document.createElement(`ukg-${this.entry.name}`)),this.element.access=this.access,this.element.parameters=this.parameters,this.requestUpdate(),await this.updateComplete,e&&a!==this.entry){scrollTo(0,0);let h=this.querySelector("main");await this.element.updateComplete,h.contains(document.activeElement)||h.focus({preventScroll:!0})}}pressed(e){let t=e.target;if(e.key==="/"&&!/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)&&!e.ctrlKey&&!e.metaKey){e.preventDefault();let s=this.querySelector("main input[type=search], main .ask input");this.entry.name==="explore"?s?.focus():location.hash="#/explore"}}theme(){let e=document.documentElement,t=e.dataset.theme??(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light");e.dataset.theme=t==="dark"?"light":"dark",localStorage.setItem("urbankg.theme",e.dataset.theme)}dialog(){return this.querySelector("dialog")}async signIn(e){e.preventDefault();let t=this.querySelector("#key");g.set(t.value.trim());try{this.access=await u("access"),t.value="",this.signingIn="",this.problem="",this.dialog().close(),await this.changed()}catch(s){g.set(null),this.signingIn=f(s).replace(" Sign in with a key.",""),this.requestUpdate()}}async signOut(){g.set(null),await this.learnAccess(),await this.changed()}async changed(){P(),this.element=null,await this.open(!1),this.count()}render(){let e=this.access.key!==null;return i`
      <a class="skip" href="#main" @click=${t=>this.skip(t)}>Skip to content</a>
      <header class="top">
        <a class="brand" href="#/ask">${Z}UrbanKG</a>
        <nav class="nav" aria-label="Main">
          ${w.map(t=>i`<a href="#/${t.name}" class=${t.late?"late":o} aria-current=${t===this.entry?"page":o}
              ><span>${t.title}${t.name==="review"&&this.waiting?i` <span class="count">${this.waiting}</span>`:o}</span></a
            >`)}
        </nav>
        <div class="tools">
          <form class="find" role="search" @submit=${t=>this.find(t)}>
            <label class="hide" for="find">Find a place or name</label>
            <input id="find" placeholder="Find a place or name" autocomplete="off" /><kbd>/</kbd>
          </form>
          <a class="icon late-tool" href="#/model" aria-label="Model">${_}</a>
          <a class="icon late-tool" href="#/status" aria-label="Status">${ee}</a>
          <button class="icon" aria-label="Light or dark" @click=${()=>this.theme()}>${J}</button>
          ${e?i`<button class="btn low" @click=${()=>{this.signOut()}}>Sign out ${this.access.key}</button>`:i`<button class="btn low" @click=${()=>this.dialog().showModal()}>Sign in</button>`}
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${this.problem?i`<div class="note warn" role="alert"><p>${this.problem}</p></div>`:o}
        ${this.known?this.element:o}
      </main>
      <dialog aria-labelledby="sign">
        <form class="stack" @submit=${t=>{this.signIn(t)}}>
          <h2 id="sign">Sign in with a key</h2>
          <p class="small soft">The key stays in this tab and is gone when you close it. Who runs the server makes keys.</p>
          <label class="field">Key<input id="key" type="password" autocomplete="off" required spellcheck="false" /></label>
          ${this.signingIn?i`<p class="v no" role="alert">${this.signingIn}</p>`:o}
          <div class="row"><button class="btn main">Sign in</button><button class="btn" type="button" @click=${()=>this.dialog().close()}>Cancel</button></div>
        </form>
      </dialog>`}find(e){e.preventDefault();let t=this.querySelector("#find");t.value.trim()&&(location.hash=`#/explore?q=${encodeURIComponent(t.value.trim())}`)}skip(e){e.preventDefault(),this.querySelector("main").focus()}},Z=i`<svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true"><path d="M6.5 7.5 15 5M6.8 9l3.6 6.5M15.6 6.8 12 15" /><circle cx="5" cy="8" r="2.6" fill="currentColor" /><circle cx="16.8" cy="4.6" r="2.2" /><circle cx="11.2" cy="17" r="2.6" /></svg>`,J=i`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M9 2.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" /></svg>`,_=i`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M4 3v9.5a1.5 1.5 0 0 0 1.5 1.5H9M4 7h5" /><path d="M12 7h3M12 14h3" /></svg>`,ee=i`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M3 15V9M9 15V3M15 15V7" /></svg>`;customElements.define("ukg-app",T);
