import{a as W,b as G}from"./chunk-HIRANH2F.js";import{a as P,b as $,c as J,d as Q,e as Y,f as z,g as Z,h as _}from"./chunk-567BVAPF.js";import{a as D,b as K,d as B,e as X,f as V}from"./chunk-YM2U6TR7.js";import{c as n,d as o,e as L,f as q,g as w,h as f,j as O,k as E,l as g,m as y,o as N,q as j,r as H,s as b,t as x,u as F,v as S,x as R}from"./chunk-VH2RXPTR.js";var ee=`PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?class ?region (SAMPLE(?name) AS ?label) (COUNT(DISTINCT ?x) AS ?n) WHERE {
  ?x geo:rcc8ntpp ?region ; a ?class . ?class rdfs:label ?word . ?region rdfs:label ?name
} GROUP BY ?class ?region HAVING (COUNT(DISTINCT ?x) > 3 && COUNT(DISTINCT ?x) < 30) ORDER BY DESC(?n) LIMIT 60`,I;async function te(){let d=await E(ee),{labels:u}=await H(),e=new Set,t=new Set,s=[];for(let a of d){let r=u.get(a.class?.value??""),i=a.label?.value;if(!r||!i||e.has(r)||t.has(i))continue;e.add(r),t.add(i);let l=se(r);if(s.push([`Which ${l} are in ${i}?`,`How many ${l} are in ${i}?`,`Which ${l} are in ${i}?`][s.length]),s.length===3)break}return s}function se(d){return/[^aeiou]y$/.test(d)?`${d.slice(0,-1)}ies`:/(s|x|ch|sh)$/.test(d)?`${d}es`:`${d}s`}var A=class extends D{constructor(){super(...arguments);this.question="";this.context="";this.withContext=!1;this.reply=null;this.asked="";this.seconds=0;this.query="";this.results=null;this.map=null;this.reference=null;this.around=null;this.selected=null;this.all=!1;this.copied=!1;this.changed=!1;this.examples=[];this.evidence=[];this.allEvidence=!1;this.placed=new Map;this.earlier=[];this.open=null;this.meanings=[]}connectedCallback(){super.connectedCallback(),I??=te(),I.then(e=>{this.examples=e,this.requestUpdate()},()=>I=void 0)}willUpdate(e){if(!e.has("parameters"))return;let t=this.parameters.get("q")??"";this.reply?.answer&&this.question!==t&&(this.earlier=[...this.earlier,this.question].slice(-5)),this.question=t,this.context=this.parameters.get("context")??"",this.withContext||=this.context!=="",t&&`${t}
${this.context}
${this.swaps}`!==this.asked&&this.answer(),t||(this.reply=null,this.asked="")}firstUpdated(){matchMedia("(min-width: 60rem)").matches&&this.querySelector("#q")?.focus()}send(e){e.preventDefault();let t=this.question.trim();if(!t)return;this.asked="";let s=`#/${g("ask",{q:t,context:this.context.trim()})}`;location.hash===s?this.answer():location.hash=s}async answer(){this.abort?.abort();let e=this.abort=new AbortController,{question:t,context:s}=this;this.asked=`${t}
${s}
${this.swaps}`,this.reply=null,this.open=null;let a=performance.now(),r=/^\s*(and|but|what about|how about)\b/i.test(t)&&this.earlier.length>0,i=await this.run("Linking names\u2026 Planning\u2026 Asking the graph\u2026",async()=>{let l={question:t,...s?{context:s}:{},...r?{history:this.earlier}:{}},p=await f("ask",{json:l,signal:e.signal});return this.swaps.length&&p.plan?.length?this.meant(p,e.signal):p});if(!(!i||e.signal.aborted)){this.seconds=(performance.now()-a)/1e3,this.reply=i,this.query=i.sparql??"",this.changed=!1;for(let l of i.entities??[])F(l.iri,l.label);this.show(i.results??null,i.map??null),document.title=`${t} \xB7 UrbanKG`,await this.draw(i).catch(()=>{}),this.requestUpdate()}}get swaps(){return this.parameters.getAll("as")}async meant(e,t){let s=JSON.stringify(e.plan.at(-1).tree),a=[...e.entities??[]];for(let i of this.swaps){let[l="",p=""]=i.split(" ");s=s.replaceAll(JSON.stringify(l),JSON.stringify(p));let m=a.findIndex(h=>h.iri===l);m>=0&&(a[m]={...a[m],iri:p,label:""})}let r=await f("ask/run",{json:{plan:JSON.parse(s)},signal:t});return await b(a.map(i=>i.iri)),{...r,entities:a.map(i=>i.label?i:{...i,label:S(i.iri)})}}async choices(e){if(this.open=this.open===e.iri?null:e.iri,this.meanings=[],this.requestUpdate(),!this.open)return;let t=await V(e.name,"entity",8);await b(t.flatMap(s=>s.classes)).catch(()=>{}),this.meanings=t.filter(s=>s.iri!==e.iri),this.requestUpdate()}another(e,t){let s=this.swaps.filter(i=>!i.startsWith(`${e.iri} `)&&!i.endsWith(` ${e.iri}`)),a=this.swaps.find(i=>i.endsWith(` ${e.iri}`))?.split(" ")[0]??e.iri;return`#/ask?${new URLSearchParams([["q",this.question],...this.context?[["context",this.context]]:[],...s.map(i=>["as",i]),["as",`${a} ${t}`]])}`}async prove(e){this.evidence=[];let t=[...new Set((e?.results?.bindings??[]).flatMap(c=>Object.values(c).filter(v=>v.type==="uri").map(v=>v.value)))],s=(this.reply?.entities??[]).map(c=>c.iri),a=[...t.slice(0,40),...s].filter(x);if(!t.length)return;let r=new Set([...t,...s]),i=new Set(this.reply?k(this.reply).map(c=>c.property?.iri):[]),p=(await E(`SELECT ?s ?p ?o WHERE { VALUES ?s { ${a.map(c=>`<${c}>`).join(" ")} } ?s ?p ?o
      FILTER(!STRSTARTS(STR(?p), "http://www.opengis.net/")) } LIMIT 300`)).map(c=>({subject:c.s.value,predicate:c.p.value,object:c.o})),m=c=>r.has(c.object.value)?0:i.has(c.predicate)?1:c.predicate===N?2:3,h=p.filter(c=>m(c)<3).sort((c,v)=>m(c)-m(v)),C=await W(h);await b([...C.keys()].flatMap(c=>[c.subject,c.object.type==="uri"?c.object.value:""])),e===this.results&&(this.evidence=h.filter(c=>C.has(c)).map(c=>({triple:c,sources:C.get(c)})),this.requestUpdate())}proof(){let e=this.allEvidence?this.evidence:this.evidence.slice(0,3),t=this.evidence.length;return n`<section class="card"><header><h2>Evidence</h2><span class="small faint">the words of texts that this rests on</span></header><div class="in stack">
      ${e.map(({triple:s,sources:a})=>n`<div><p>${B({...s,evidence:null,confidence:null})}</p>${a.slice(0,2).map(G)}</div>`)}
      ${e.length<t?n`<button class="btn low" @click=${()=>this.everything()}>All ${t}</button>`:o}</div></section>`}everything(){this.allEvidence=!0,this.requestUpdate()}show(e,t){this.results=e,this.map=Q(t),this.selected=null,this.all=!1,this.copied=!1,this.map&&import("./map-5QLYN6DK.js"),this.allEvidence=!1,this.prove(e).catch(()=>{});let s=(e?.results?.bindings??[]).flatMap(a=>Object.values(a).filter(r=>r.type==="uri").map(r=>r.value));this.placed=new Map,this.place(s).catch(()=>{}),b(s.slice(0,600)).then(()=>this.requestUpdate(),()=>{}),this.requestUpdate()}async place(e){let{results:t,reply:s}=this;if(!this.map||!s)return;let a=k(s).find(l=>l.op==="near"||l.op==="distance"),r=a?[...T(a)].find(l=>l.entity)?.entity?.iri:void 0,i=await P([...new Set(e)],r).catch(()=>P([...new Set(e)]));t===this.results&&(this.placed=i,this.requestUpdate())}async draw(e){this.reference=this.around=null;let t=k(e),s=t.map(h=>h.entity?.iri).filter(h=>!!h&&x(h)),a=new Set(this.map?.features.map(h=>h.properties?.iri)),r=s.filter(h=>!a.has(h));if(!r.length||!this.map)return;this.reference=await f(`features?${new URLSearchParams([...r.map(h=>["iri",h]),["tolerance","0.0001"]])}`);let i=t.find(h=>h.op==="near"&&h.meters),l=i?[...T(i)].find(h=>h.entity)?.entity?.iri:void 0;if(!i||!l||!x(l))return;let m=(await E(`PREFIX geo: <http://www.opengis.net/ont/geosparql#>
      PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
      SELECT (geof:buffer(?wkt, ${i.meters}, uom:metre) AS ?around) WHERE {
        <${l}> (geo:hasDefaultGeometry|geo:hasGeometry)/geo:asWKT ?wkt } LIMIT 1`))[0]?.around;m&&(this.around=Z(m.value))}async again(){let e=await this.run("Asking the graph\u2026",()=>O(this.query));e&&(this.changed=this.query!==this.reply?.sparql,this.show(e,_(e)))}render(){return n`<div class="gap">
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
          ${this.reply?this.readAs(this.reply):o}
          ${this.withContext?o:n`<button class="btn low push" @click=${()=>this.addContext()}>Add context</button>`}
        </div>
        ${this.reply?this.otherMeanings(this.reply):o}
      </div>
      ${this.state()} ${this.reply?this.answered(this.reply):this.working||this.problem||this.parameters.get("q")?o:this.empty()}
    </div>`}readAs(e){let t=k(e),s=t.filter(i=>i.op==="kind").map(i=>i.of),a=t.find(i=>i.op==="near"&&i.meters),r=e.entities??[];return!s.length&&!r.length?o:n`<span class="small faint">Read as</span>
      ${s.map(i=>n`<span class="chip still k-${R([i.iri])}"><i>kind</i>${i.label}</span>`)}
      ${a?n`<span class="chip still k-value"><i>near</i>within ${$(a.meters)}</span>`:o}
      ${r.map(i=>n`<button class="chip more k-${R(i.classes)}" aria-expanded=${this.open===i.iri?"true":"false"} @click=${()=>{this.choices(i)}}><i>${i.classes[0]?S(i.classes[0]):"name"}</i>${i.label||i.name}</button>`)}`}otherMeanings(e){let t=e.entities?.find(s=>s.iri===this.open);return t?n`<div class="note row"><span class="small soft">“${t.name}” may also mean</span>
      ${this.meanings.map(s=>n`<a class="chip k-${R(s.classes)}" href=${this.another(t,s.iri)}><i>${s.classes[0]?S(s.classes[0]):"name"}</i>${s.label}</a>`)}
      ${this.meanings.length?o:n`<span class="small">nothing else that the graph knows.</span>`}
      <a class="small push" href=${K(t.iri)}>Open ${t.label||t.name}</a></div>`:o}distances(e){let t=k(e).find(a=>a.op==="near"&&a.assumed&&a.meters);if(!t||!/\bnear\b/.test(this.question))return o;let s=a=>this.question.replace(/\bnear\b/,`within ${$(a)} of`);return n`<nav class="seg" aria-label="Distance">${[t.meters/2,t.meters,t.meters*2].map(a=>a===t.meters?n`<a aria-current="true">${$(a)}</a>`:n`<a href=${`#/${g("ask",{q:s(a)})}`}>${$(a)}</a>`)}</nav>`}async addContext(){this.withContext=!0,this.requestUpdate(),await this.updateComplete,this.querySelector("#context").focus()}empty(){return n`<section class="start stack">
      <h1>Ask about the places of this graph</h1>
      <p class="soft">Write a question as you would say it. The answer comes with its map, the query that found it, and what was assumed.</p>
      ${this.examples.length?n`<div class="row"><span class="small faint">Try</span>${this.examples.map(e=>n`<a class="chip plain" href=${`#/${g("ask",{q:e})}`}>${e}</a>`)}</div>`:o}
    </section>`}answered(e){let{heading:t,rest:s}=ie(e,this.results),a=this.results?.results?.bindings.length??0,r=e.gaps??[];return n`<div class=${this.map?"answer":"answer alone"}>
        <section class="head stack" aria-live="polite">
          <h1>${e.answer===null?"I cannot answer this from the graph.":t}</h1>
          ${s&&!this.changed?n`<div class="row small soft"><span>${s}</span>${this.distances(e)}</div>`:o}
          ${this.changed?n`<p class="small soft">The list shows your changed query, not the question.</p>`:o}
          ${r.length?this.gaps(r,e.answer===null):o}
        </section>
        ${this.map?n`<ukg-map .data=${this.map} .reference=${this.reference} .around=${this.around} .selected=${this.selected}
              label="Map of the answer. The list has the same numbers."
              @pick=${i=>this.pick(i.detail)}></ukg-map>`:o}
        ${this.results?.head.vars&&a?n`<section class="rest"><div class="card">
              ${J(this.results,{map:this.map,selected:this.selected,all:this.all,placed:this.placed,pick:i=>this.pick(i),more:()=>this.more()})}
              <div class="row ruled">
                ${z(()=>this.didCopy(),this.copied)}
                ${Y(this.query,this.map,"answer",i=>this.failed(i))}
                <span class="push small faint num">${a.toLocaleString("en")} ${a===1?"row":"rows"} · ${this.seconds.toFixed(1)} s</span>
              </div>
            </div></section>`:o}
      </div>
      <div class=${this.evidence.length?"cols":""}>${this.steps(e)}${this.evidence.length?this.proof():o}</div>
      ${this.query?n`<details class="card"><summary>Query <span class="small faint">SPARQL, ${this.query.split(`
`).length} lines</span></summary>
            <div class="in stack">
              <label class="hide" for="sparql">The query, to change and run again</label>
              <textarea id="sparql" class="code" spellcheck="false" rows=${Math.min(24,this.query.split(`
`).length+1)} .value=${this.query}
                @input=${i=>this.query=i.target.value}></textarea>
              <div class="row"><button class="btn" @click=${()=>{this.again()}}>Run again</button>
              <button class="btn low" @click=${()=>location.hash=`#/${g("query",{query:this.query})}`}>Open in Query</button></div>
            </div></details>`:o}
      ${this.next(e)}`}steps(e){let t=(e.plan??[]).map(s=>s.sentence);return t.length?n`<section class="card"><header><h2>How I read it</h2></header>
      <div class="in"><ol class="steps">${t.map(s=>n`<li>${s}</li>`)}</ol>
        ${e.trace?.length?n`<details><summary>What was tried <span class="small faint">${e.trace.length} steps</span></summary>
          <ul class="items">${e.trace.map(s=>n`<li><p class="small soft">${s.thought}</p><p><b>${s.action}</b> ${s.observation.slice(0,600)}</p></li>`)}</ul></details>`:o}</div></section>`:o}gaps(e,t){return n`<div class="note warn stack">
      ${e.map(s=>{let a=[s.subject,s.property,s.object];return n`<div><p class="v">${t?"Missing":"Not in the graph"}</p><p>${X(s.message)}</p>
          ${t?this.without(s.property):o}
          ${a.filter(r=>r&&r!=="?").length>1?n`<p class="st"><b>${s.subject}</b> <span>${s.property}</span> <b>${s.object}</b></p>`:o}</div>`})}
      <p class="small"><a href="#/text">Add a text that says it</a></p>
    </div>`}without(e){let t=this.question.replace(new RegExp(`\\b${e.replace(/[.*+?^${}()|[\]\\]/g,"\\$&")}\\b\\s*`,"i"),"");return!e||e==="?"||t===this.question?o:n`<p><a href=${`#/${g("ask",{q:t})}`}>Ask without “${e}”</a></p>`}next(e){if(e.answer===null)return o;let t=[...this.followUps(e),...this.examples.filter(s=>s!==this.question)].slice(0,3);return t.length?n`<div class="row"><span class="small faint">Ask next</span>${t.map(s=>n`<a class="chip plain" href=${`#/${g("ask",{q:s})}`}>${s}</a>`)}</div>`:o}followUps(e){let t=e.entities?.length===1?e.entities[0]:null,a=[...new Map([...this.placed.values()].flatMap(l=>l.within?[[l.within.iri,l.within.label]]:[]))].find(([l])=>l!==t?.iri)?.[1],r=/^which\b/i.test(this.question)?this.question.replace(/^which\b/i,"How many"):"",i=t&&a&&this.question.includes(t.name)?this.question.replace(t.name,a):"";return[r,i].filter(Boolean)}pick(e){this.selected=e,this.requestUpdate()}more(){this.all=!0,this.requestUpdate()}didCopy(){this.copied=!0,this.requestUpdate()}failed(e){this.problem=e instanceof q?y(e):String(e),this.requestUpdate()}};function ie(d,u){let e=d.answer??"",t=u?.results?.bindings??[],s=e.indexOf(": ");if(t.length>1&&s>0){let r=t.map(p=>p.label?.value).map(p=>p?e.lastIndexOf(p)+p.length:-1),i=/ and [\d,]+ more/.exec(e),l=Math.max(...r.filter(p=>p>s),i?i.index+i[0].length:-1);if(l>s)return{heading:`${e.slice(0,s)}.`,rest:e.slice(l).replace(/^\.\s*/,"")}}let a=/^(.{20,}?[.?!]) (?=[A-Z].{15,})/.exec(e);return a?{heading:a[1],rest:e.slice(a[0].length)}:{heading:e,rest:""}}function k({plan:d}){let u=d?.at(-1)?.tree;return u?[...T(u)]:[]}function*T(d){yield d;for(let u of Object.values(d))for(let e of Array.isArray(u)?u:[u])e&&typeof e=="object"&&"op"in e&&(yield*T(e))}customElements.define("ukg-ask",A);var M=[{name:"ask",title:"Ask",load:async()=>{}},{name:"text",title:"Text",load:()=>import("./text-DK6UBGQM.js")},{name:"review",title:"Review",load:()=>import("./review-WQOPNNNK.js")},{name:"explore",title:"Explore",load:()=>import("./explore-AG24WG62.js")},{name:"query",title:"Query",load:()=>import("./query-4SYHTSPR.js")},{name:"model",title:"Model",late:!0,load:()=>import("./model-YL4ZZHTZ.js")},{name:"status",title:"Status",late:!0,load:()=>import("./status-OVUEGBY7.js")}],U=class extends L{constructor(){super(...arguments);this.entry=M[0];this.parameters=new URLSearchParams;this.access={key:null,scopes:["read"]};this.waiting=null;this.element=null;this.problem="";this.signingIn="";this.known=!1}createRenderRoot(){return this}connectedCallback(){super.connectedCallback();let e=new URLSearchParams(location.search).get("theme")??localStorage.getItem("urbankg.theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e),addEventListener("hashchange",()=>{this.open(!0)}),addEventListener("keydown",t=>this.pressed(t)),addEventListener("urbankg-review",()=>{this.count()}),this.start()}async start(){let e=this.learnAccess();this.known=!/^#\/(?!ask)/.test(location.hash),await Promise.all([this.open(!1),e]),this.element.access=this.access,this.requestUpdate(),this.count()}async learnAccess(){try{this.access=await f("access")}catch(e){e instanceof q&&e.status===401?(w.set(null),this.problem="The key of this tab is no longer valid. Sign in again."):this.problem=y(e)}this.known=!0}async count(){try{this.waiting=(await f("review?limit=1")).total}catch{this.waiting=null}this.requestUpdate()}async open(e){let[t="",s=""]=location.hash.replace(/^#\/?/,"").split("?",2),[a="",...r]=t.split("/"),i=this.entry;this.entry=M.find(l=>l.name===a)??M[0],this.parameters=new URLSearchParams(s),r.length&&this.parameters.set("id",decodeURIComponent(r.join("/")));try{await this.entry.load()}catch{this.problem="A part of the page could not be loaded. Reload it."}if(document.title=`${this.entry.title} \xB7 UrbanKG`,(!this.element||i!==this.entry)&&(this.element=document.createElement(`ukg-${this.entry.name}`)),this.element.access=this.access,this.element.parameters=this.parameters,this.requestUpdate(),await this.updateComplete,e&&i!==this.entry){scrollTo(0,0);let l=this.querySelector("main");await this.element.updateComplete,l.contains(document.activeElement)||l.focus({preventScroll:!0})}}pressed(e){let t=e.target;if(e.key==="/"&&!/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)&&!e.ctrlKey&&!e.metaKey){e.preventDefault();let s=this.querySelector("main input[type=search], main .ask input");this.entry.name==="explore"?s?.focus():location.hash="#/explore"}}theme(){let e=document.documentElement,t=e.dataset.theme??(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light");e.dataset.theme=t==="dark"?"light":"dark",localStorage.setItem("urbankg.theme",e.dataset.theme)}dialog(){return this.querySelector("dialog")}async signIn(e){e.preventDefault();let t=this.querySelector("#key");w.set(t.value.trim());try{this.access=await f("access"),t.value="",this.signingIn="",this.problem="",this.dialog().close(),await this.changed()}catch(s){w.set(null),this.signingIn=y(s).replace(" Sign in with a key.",""),this.requestUpdate()}}async signOut(){w.set(null),await this.learnAccess(),await this.changed()}async changed(){j(),this.element=null,await this.open(!1),this.count()}render(){let e=this.access.key!==null;return n`
      <a class="skip" href="#main" @click=${t=>this.skip(t)}>Skip to content</a>
      <header class="top">
        <a class="brand" href="#/ask">${ae}UrbanKG</a>
        <nav class="nav" aria-label="Main">
          ${M.map(t=>n`<a href="#/${t.name}" class=${t.late?"late":o} aria-current=${t===this.entry?"page":o}
              ><span>${t.title}${t.name==="review"&&this.waiting?n` <span class="count">${this.waiting}</span>`:o}</span></a
            >`)}
        </nav>
        <div class="tools">
          <form class="find" role="search" @submit=${t=>this.find(t)}>
            <label class="hide" for="find">Find a place or name</label>
            <input id="find" placeholder="Find a place or name" autocomplete="off" /><kbd>/</kbd>
          </form>
          <a class="icon late-tool" href="#/model" aria-label="Model">${re}</a>
          <a class="icon late-tool" href="#/status" aria-label="Status">${le}</a>
          <button class="icon" aria-label="Light or dark" @click=${()=>this.theme()}>${ne}</button>
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
      </dialog>`}find(e){e.preventDefault();let t=this.querySelector("#find");t.value.trim()&&(location.hash=`#/explore?q=${encodeURIComponent(t.value.trim())}`)}skip(e){e.preventDefault(),this.querySelector("main").focus()}},ae=n`<svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true"><path d="M6.5 7.5 15 5M6.8 9l3.6 6.5M15.6 6.8 12 15" /><circle cx="5" cy="8" r="2.6" fill="currentColor" /><circle cx="16.8" cy="4.6" r="2.2" /><circle cx="11.2" cy="17" r="2.6" /></svg>`,ne=n`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M9 2.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" /></svg>`,re=n`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M4 3v9.5a1.5 1.5 0 0 0 1.5 1.5H9M4 7h5" /><path d="M12 7h3M12 14h3" /></svg>`,le=n`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M3 15V9M9 15V3M15 15V7" /></svg>`;customElements.define("ukg-app",U);
