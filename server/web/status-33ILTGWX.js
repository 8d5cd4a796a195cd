import{a as v}from"./chunk-7AO3TQGM.js";import{c as a,d as n,h as i,l as d,s as m,t as u,w as h}from"./chunk-XPTIV6AQ.js";var p=class extends v{constructor(){super(...arguments);this.health={};this.triples=0;this.classes=[];this.queue={};this.jobs=[];this.documents=0;this.model={};this.rules={}}connectedCallback(){super.connectedCallback(),this.load(),this.timer=setInterval(()=>{this.follow()},3e3)}disconnectedCallback(){super.disconnectedCallback(),clearInterval(this.timer)}async load(){await this.run("Counting\u2026",async()=>{let t=["open","accepted","rejected"],[s,e,o,l,c,b,...g]=await Promise.all([i("healthz"),i("models"),i("rules"),i("documents?limit=1"),d("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"),d("SELECT ?class (COUNT(?thing) AS ?n) WHERE { ?thing a ?class . ?class a <http://www.w3.org/2002/07/owl#Class> FILTER(!STRSTARTS(STR(?class), 'http://www.opengis.net/')) } GROUP BY ?class ORDER BY DESC(?n) LIMIT 12"),...t.map(r=>i(`review?status=${r}&limit=1`)),m()]);Object.assign(this,{health:s,model:e,rules:o,documents:l.total}),this.triples=Number(c[0]?.n?.value??0),this.classes=b.map(r=>({iri:r.class.value,count:Number(r.n.value)})),t.forEach((r,f)=>this.queue[r]=g[f].total),await u(this.classes.map(r=>r.iri))}),await this.follow()}async follow(){let t=await i("jobs?limit=20").catch(()=>({jobs:[]}));this.jobs=t.jobs,this.requestUpdate()}async turn(t,s){await this.run("",()=>i(`jobs/${encodeURIComponent(t.id)}/${s}`,{method:"POST"})),await this.follow()}render(){let t=Math.max(1,...this.classes.map(e=>e.count)),s=e=>(e??0).toLocaleString("en");return a`<div class="gap">
      <h1 class="mid">${s(this.triples)} triples at revision ${s(this.health.revision)}</h1>
      ${this.state()}
      <div class="cols">
        <section class="gap">
          <div class="card"><header><h2>What there is most of</h2></header><table class="list"><tbody>${this.classes.map(e=>a`<tr><td>${h(e.iri)}</td><td class="bar-cell"><meter min="0" max=${t} value=${e.count} aria-label=${h(e.iri)}></meter></td><td class="right">${s(e.count)}</td></tr>`)}</tbody></table></div>
          <div class="card"><header><h2>Jobs</h2></header>${this.jobs.length?a`<ul class="items">${this.jobs.map(e=>this.job(e))}</ul>`:a`<p class="empty">No job yet. Post many texts at once to /jobs.</p>`}</div>
        </section>
        <section class="gap">
          <div class="card"><header><h2>Review</h2></header><table class="facts"><tbody>
            <tr><th scope="row">waiting</th><td class="num"><a href="#/review">${s(this.queue.open)}</a></td></tr>
            <tr><th scope="row">accepted</th><td class="num"><a href="#/review?status=accepted">${s(this.queue.accepted)}</a></td></tr>
            <tr><th scope="row">rejected</th><td class="num"><a href="#/review?status=rejected">${s(this.queue.rejected)}</a></td></tr>
            <tr><th scope="row">texts</th><td class="num"><a href="#/text">${s(this.documents)}</a></td></tr></tbody></table></div>
          <div class="card"><header><h2>In force</h2></header><table class="facts"><tbody>
            <tr><th scope="row">ontology</th><td>${this.files("ontology")} <span class="small faint">${this.rules.rules?.ontology}</span></td></tr>
            <tr><th scope="row">shapes</th><td>${this.files("shapes")} <span class="small faint">${this.rules.rules?.shapes}</span></td></tr>
            <tr><th scope="row">inference</th><td>${this.rules.inference}</td></tr>
            <tr><th scope="row">model</th><td>${this.model.model}</td></tr>
            <tr><th scope="row">calls</th><td class="num">${s(this.model.usage?.calls)} <span class="small faint">since the start, ${(this.model.usage?.model_seconds??0).toFixed(0)} s</span></td></tr>
            <tr><th scope="row">store</th><td>${this.health.store?.kind}</td></tr></tbody></table>
            ${this.rules.problem?a`<div class="note warn"><p>${this.rules.problem}</p></div>`:n}</div>
          <p class="small soft"><a href="docs">The API</a> · <a href="ui/licenses.txt">Licenses of the page</a></p>
        </section>
      </div>
    </div>`}files(t){return(this.rules.files?.[t]??[]).map(s=>s.name).join(", ")||"none"}job(t){let s=Object.values(t.documents).reduce((l,c)=>l+c,0),e=(t.documents.pending??0)+(t.documents.extracting??0)+(t.documents.extracted??0),o={running:["pause","cancel"],paused:["resume","cancel"],done:t.documents.failed?["retry"]:[],cancelled:[]}[t.state]??[];return a`<li><div class="two"><span><b>${t.name??t.id}</b> <span class="soft">${t.state}</span></span><span class="num small faint">${s-e} of ${s}</span></div>
      <progress max=${s||1} value=${s-e} aria-label="Progress of ${t.name??t.id}"></progress>
      ${t.problem?a`<p class="why">${t.problem}</p>`:n}
      ${this.may("extract")&&o.length?a`<div class="row">${o.map(l=>a`<button class="btn low" @click=${()=>{this.turn(t,l)}}>${l}</button>`)}</div>`:n}</li>`}};customElements.define("ukg-status",p);
