import{a as E,b as j,d as R,e as O}from"./chunk-6A35HP4S.js";import{c as n,d as h,h as f,o as b,r as $,s as y,u as k,v as T,w as v,y as S}from"./chunk-FLA3T2QR.js";var q={area:"area",built:"place",way:"transport",water:"water",org:"organisation",person:"person",value:"other"},x=class extends E{constructor(){super(...arguments);this.text="";this.source="";this.read="";this.outcome=null;this.committed=!1;this.seconds=0;this.focused=null;this.names=new Map;this.texts=[];this.stored=null}connectedCallback(){super.connectedCallback(),this.list()}willUpdate(t){if(!t.has("parameters"))return;let e=this.parameters.get("id");e&&e!==this.stored&&this.openStored(e),!e&&this.stored&&this.again()}async list(){let t=await f("documents?limit=8").catch(()=>({documents:[]}));this.texts=t.documents,this.requestUpdate()}async openStored(t){this.stored=t;let e=await this.run("Reading the text\u2026",async()=>(await $(),f(`documents/${encodeURIComponent(t)}?limit=1000&state=any`)));if(!e)return;let a=e.statements;this.outcome={accepted:a.filter(s=>s.state==="accepted"),rejected:a.filter(s=>s.state!=="accepted").map(s=>({statement:s,violations:s.violations??[]})),warnings:[],entities:[],derived:0,revision:null},this.text=this.read=e.text??"",this.source=e.source??"",this.committed=!0,await this.name()}async name(){let t=this.outcome;this.names.clear();for(let e of t.entities)this.names.set(e.iri,e.label);for(let e of w(t))e.statement.predicate.endsWith("#label")&&e.statement.object.type==="literal"&&this.names.set(e.statement.subject,e.statement.object.value);for(let[e,a]of this.names)k(e,a);await y(w(t).flatMap(({statement:e})=>[e.subject,e.predicate,e.object.type==="uri"?e.object.value:""])).catch(()=>{}),this.requestUpdate()}async submit(t){if(!this.text.trim())return;let e=performance.now(),a=this.source.trim(),s=await this.run(t?"Reading the text and committing\u2026":"Reading the text\u2026",async()=>(await $(),f("extractions",{json:{text:this.text,commit:t,...a?{source:a}:{}}})));s&&(this.outcome=s,this.read=this.text,this.committed=t,this.seconds=(performance.now()-e)/1e3,this.focused=null,t&&(dispatchEvent(new Event("urbankg-review")),this.list()),await this.name(),await this.updateComplete,this.querySelector("h1")?.focus())}again(){this.outcome=null,this.committed=!1,this.stored&&(this.stored=null,this.text=this.source="",location.hash="#/text"),this.requestUpdate(),this.updateComplete.then(()=>this.querySelector("#text")?.focus())}async drop(t){let e=t?.[0];if(!e)return;let a=await e.text();a.includes("\0")||a.includes("\uFFFD")?this.problem=`\u201C${e.name}\u201D is not text that I can read. Nothing was stored.`:(this.problem="",this.text=a,this.source||=e.name),this.requestUpdate()}render(){return this.outcome?this.judged(this.outcome):this.entry()}entry(){return this.may("extract")?n`<div class="gap">
      <div><h1>What does a text say about the city?</h1><p class="soft">Paste a text or drop a file. First you see what would be accepted and refused; nothing is stored before you commit.</p></div>
      ${this.state()}
      <form class="card roomy" @submit=${t=>this.send(t)} @dragover=${t=>t.preventDefault()}
        @drop=${t=>(t.preventDefault(),void this.drop(t.dataTransfer?.files))}>
        <div class="in stack">
          <label class="hide" for="text">The text</label>
          <textarea id="text" class="quote" rows="10" required placeholder="Paste a text, or drop a file here" .value=${this.text}
            @input=${t=>this.text=t.target.value}
            @keydown=${t=>t.key==="Enter"&&(t.ctrlKey||t.metaKey)&&void this.submit(!1)}></textarea>
          <div class="row">
            <label class="field grow">Where it comes from<input id="source" .value=${this.source} autocomplete="off" placeholder="An address or a title" @input=${t=>this.source=t.target.value} /></label>
            <label class="btn file">Choose a file<input class="hide" type="file" accept="text/*,.txt,.md" @change=${t=>{this.drop(t.target.files)}} /></label>
            <button class="btn main" ?disabled=${this.working!==""}>Read it <kbd class="wide">Ctrl ↵</kbd></button>
          </div>
        </div>
      </form>
      ${this.earlier()}
    </div>`:n`<section class="stack"><h1>Text to graph</h1><div class="note"><p>To add a text, sign in with a key of the scope “extract”.</p></div>${this.earlier()}</section>`}send(t){t.preventDefault(),this.submit(!1)}earlier(){return this.texts.length?n`<section class="card"><header><h2>Texts in the graph</h2></header><div class="wide-table" tabindex="0" role="region" aria-label="Texts in the graph"><table class="list">
      <thead><tr><th>Text</th><th class="right">Characters</th><th class="right">Statements</th><th class="right">Waiting</th></tr></thead>
      <tbody>${this.texts.map(t=>n`<tr><td><a href=${`#/text/${t.id}`}>${t.source??t.id}</a></td><td class="right">${t.characters}</td><td class="right">${t.statements}</td>
          <td class="right">${t.open?n`<a href=${`#/review?document=${t.id}`}>${t.open}</a>`:"0"}</td></tr>`)}</tbody></table></div></section>`:h}judged(t){let e=w(t),a=o=>e.filter(r=>r.look===o),[s,i,l]=[a("ok"),a("warn"),a("no")],d=s.length+i.length,c=t.entities.filter(o=>o.new).length;return n`<div class="gap">
      <div class="row spread">
        <div><h1 tabindex="-1">${s.length} accepted, ${i.length} to look at, ${l.length} refused</h1>
          <p class="soft">${this.stored?"This text is in the graph.":this.committed?t.held?t.held.reason:"Committed: the accepted statements are in the graph.":"Dry run: nothing is in the graph yet."}
            <span class="faint num small">${this.stored?this.source:`${t.entities.length} entities \xB7 ${this.seconds.toFixed(0)} s`}</span></p></div>
        <div class="row push">
          <button class="btn" @click=${()=>this.again()}>${this.committed?"Another text":"Edit text"}</button>
          ${this.committed?n`<a class="btn" href="#/review${this.stored?`?document=${this.stored}`:""}">Open Review</a>`:n`<button class="btn main" ?disabled=${this.working!==""||d+l.length===0} @click=${()=>{this.submit(!0)}}>Commit ${d} ${d===1?"statement":"statements"}</button>`}
        </div>
      </div>
      ${this.state()}
      <div class="cols">
        <section class="stay gap">
          <div class="card"><header><h2>Text</h2><span class="small faint">${this.source}</span></header><div class="in"><p class="quote whole">${this.marked(t)}</p></div>
            ${this.legend(t)}</div>
          ${t.entities.length?n`<div class="card"><header><h2>Names</h2><span class="small faint">${c} new, ${t.entities.length-c} known</span></header>
                <table class="list"><tbody>${t.entities.map(o=>n`<tr><td><span class="k-${v(o.classes)}"><span class="dot"></span> ${o.new&&!this.committed?o.label:n`<a href=${j(o.iri)}>${o.label}</a>`}</span></td>
                    <td class="soft">${o.classes[0]?T(o.classes[0]):"kind not known"}</td><td class="right small">${o.new?n`<b>new</b>`:"known"}</td></tr>`)}</tbody></table></div>`:h}
        </section>
        <section class="gap">
          ${e.length===0?n`<div class="card"><p class="empty first">The text says nothing that the ontology has words for. Try a text about places, people or events.</p></div>`:h}
          ${this.group("no","Refused",this.committed?"wait in Review":"would wait in Review",l)}
          ${this.group("warn","To look at","accepted, queued as well",i)}
          ${this.group("ok","Accepted","",s)}
        </section>
      </div>
    </div>`}group(t,e,a,s){return s.length?n`<div class="card"><header><span class="v ${t}">${e}</span><span class="count">${s.length}</span><span class="small faint push">${a}</span></header>
      <ul class="items">${s.map(i=>n`<li class=${t} aria-current=${i.statement===this.focused?.statement?"true":h} @mouseenter=${()=>this.focusOn(i)}>
          <button class="cover" @focus=${()=>this.focusOn(i)} @click=${()=>this.focusOn(i)}>
            <span class="two"><span>${R(i.statement,{subject:this.names.get(i.statement.subject),object:i.statement.object.type==="uri"?this.names.get(i.statement.object.value):S(i.statement.object)})}</span>
            <span class="num small faint">${i.statement.confidence?.toFixed(2)??""}</span></span>
            ${i.reasons.map(l=>n`<span class="why">${l}</span>`)}</button></li>`)}</ul></div>`:h}focusOn(t){this.focused?.statement!==t.statement&&(this.focused=t,this.requestUpdate())}legend(t){let e=[...new Set(t.entities.map(a=>v(a.classes)))];return e.length?n`<div class="row small soft ruled">${e.map(a=>n`<span class="k-${a}"><span class="dot"></span> ${q[a]}</span>`)}</div>`:h}marked(t){let e=[...this.read],a=new Array(e.length);for(let r of t.entities)for(let{start:u,end:p}of r.mentions)a.fill(v(r.classes),u,p);let s=this.focused?.statement.evidence,i=r=>!!s&&r>=s.start&&r<s.end,l=[];e.forEach((r,u)=>{let p=l.at(-1);p&&p.kind===a[u]&&p.linked===i(u)?p.text+=r:l.push({text:r,kind:a[u],linked:i(u)})});let d=r=>r.kind?n`<mark class="k-${r.kind}">${r.text}</mark>`:n`${r.text}`,c=l.filter(r=>r.linked),o=l.findIndex(r=>r.linked);return o<0?l.map(d):[...l.slice(0,o).map(d),n`<span class=${this.focused.look}><span class="link">${c.map(d)}</span></span>`,...l.slice(o+c.length).map(d)]}};function w(m){let g=s=>JSON.stringify([s.subject,s.predicate,s.object]),t=(s,i)=>i.map(({statement:l,violations:d})=>({look:s,statement:l,reasons:[...new Set(d.map(c=>O(c.message)))]})),e=new Set(m.warnings.map(s=>g(s.statement))),a=m.accepted.filter(s=>!e.has(g(s)));return a.sort((s,i)=>+(s.predicate===b)-+(i.predicate===b)),[...t("no",m.rejected),...t("warn",m.warnings),...a.map(s=>({look:"ok",statement:s,reasons:[]}))]}customElements.define("ukg-text",x);
