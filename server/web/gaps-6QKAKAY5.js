import{b,c as v,e as u,f as h,h as y,k as w}from"./chunk-6TVNNOPR.js";import{F as $,c as i,e as n,i as l,o,v as d,w as g,x as f}from"./chunk-2OO4KYYA.js";var k=50,x=[["","All that is missing"],["data","facts"],["entity","names"],["schema","words"]],q=["open","accepted","rejected","any"],T={unverified:["warn","The model believes it; no text says it yet"],found:["ok","A text says it"],confirmed:["ok","A text says what the model believed"],corrected:["warn","A text says otherwise than the model believed"]},m=class extends b{constructor(){super(...arguments);this.gaps=[];this.total=0;this.current=null;this.filters="none yet";this.value="";this.reason=null;this.tried=null;this.said=""}willUpdate(t){if(!t.has("parameters"))return;let e=this.filter().toString(),s=this.parameters.get("id");e!==this.filters?(this.filters=e,this.load()):s&&s!==this.current?.id&&this.open(s)}filter(){return new URLSearchParams(["status","kind","text"].flatMap(t=>this.parameters.get(t)?[[t,this.parameters.get(t)]]:[]))}async load(t=!1){let e=this.filter();e.set("offset",String(t?this.gaps.length:0)),e.set("limit",String(k));let s=await this.run("Reading the gaps\u2026",()=>l(`gaps?${e}`));s&&(this.total=s.total,this.gaps=t?[...this.gaps,...s.gaps]:s.gaps,t||await this.open(this.parameters.get("id")??this.gaps[0]?.id??null),this.requestUpdate())}async open(t){let e=t===null?null:await this.run("Reading the gap\u2026",()=>l(`gaps/${encodeURIComponent(t)}`));e!==void 0&&await this.show(e)}async show(t){if(this.current=t,this.value="",this.reason=null,this.tried=null,t){t.terms?.subject&&f(t.terms.subject,t.subject);let e=t.completion?.statements??[];await d(e.flatMap(s=>[s.subject,s.predicate,s.object.type==="uri"?s.object.value:""])).catch(()=>{}),this.addressed(o(`gaps/${t.id}`,Object.fromEntries(this.filter())))}this.requestUpdate()}async look(t){let{id:e,terms:s}=this.current,a=await this.run(t==="verify"?"Reading the texts that may say it\u2026":"Asking the model\u2026",()=>l(`gaps/${e}/${t}`,{method:"POST"}));a&&(await this.show({...a.gap,terms:s}),this.said=a.gap.completion?"":`None of ${a.gap.passages.length} passages says it.`,this.requestUpdate())}async accept(t){let{id:e}=this.current,s=this.value.trim(),a=await this.run(t?"Trying it\u2026":"Committing\u2026",async()=>{try{return await l(`gaps/${e}/accept`,{json:{...s?{value:s}:{},dry_run:t}})}catch(r){throw w(r)}});a&&(this.tried=a.accepted,await d(this.tried.map(r=>r.object.type==="uri"?r.object.value:"")).catch(()=>{}),t||await this.decided(a.answer?`Filled. The answer now: ${a.answer}`:"Filled."),this.requestUpdate())}async turn(t){let e=this.reason?.trim();await this.run("Deciding\u2026",()=>l(`gaps/${this.current.id}/${t}`,{json:e?{reason:e}:{}}))&&await this.decided(t==="reject"?"Set aside.":"Open again.")}async decided(t){this.said=t,this.parameters.delete("id"),await this.load(),this.querySelector("article")?.focus({preventScroll:!0})}set(t,e){let s=this.filter();e&&!(t==="status"&&e==="open")?s.set(t,e):s.delete(t),location.hash=`#/${o("gaps",Object.fromEntries(s))}`}render(){let t=this.parameters.get("status")??"open";return i`<div class="cols queue queue-open">
      <section class="stack side" aria-label="Gaps">
        <nav class="seg" aria-label="What waits"><a href="#/review">Statements</a><a aria-current="true">Gaps</a></nav>
        <h1 class="mid">${this.problem&&!this.total?"Gaps":i`${this.total.toLocaleString("en")} ${t==="open"?this.total===1?"gap":"gaps":t==="any"?"gaps":t}`}</h1>
        ${this.filterBar(t)}
        ${this.gaps.length?i`<ul class="items card">${this.gaps.map(e=>i`<li aria-current=${e.id===this.current?.id?"true":n}>
                <a class="cover" href=${`#/${o(`gaps/${e.id}`,Object.fromEntries(this.filter()))}`}><span class="two"><span>${h(e)}</span>
                  <span class="num small faint">${e.asked}×</span></span><span class="why">${e.questions[0]?.question??""}</span></a></li>`)}</ul>
              ${this.gaps.length<this.total?i`<button class="btn" @click=${()=>{this.load(!0)}}>Show ${Math.min(k,this.total-this.gaps.length)} more</button>`:n}`:this.working||this.problem?n:i`<div class="card"><p class="empty first">No question has missed anything${this.filters?" that fits":""}.
              ${this.filters?i`<a href="#/gaps">Show all</a>`:i`<a href="#/ask">Ask one</a>`}</p></div>`}
      </section>
      <section class="stack" aria-label="Gap">
        ${this.current?this.item(this.current):n} ${this.state()}
        <p class="small soft" aria-live="polite">${this.said}</p>
        ${this.current?this.passages(this.current):n}
      </section>
    </div>`}filterBar(t){let e=(s,a,r,j)=>i`<label class="hide" for="g-${s}">${a}</label>
      <select id="g-${s}" class="chip plain" @change=${p=>this.set(s,p.target.value)}>
        ${r.map(([p,S])=>i`<option value=${p} ?selected=${p===j}>${S}</option>`)}</select>`;return i`<div class="row filters">
      ${e("status","State",q.map(s=>[s,s==="any"?"any state":s]),t)}
      ${e("kind","What is missing",x,this.parameters.get("kind")??"")}
      <label class="hide" for="g-text">Words</label>
      <input id="g-text" type="search" class="chip plain" placeholder="Words" .value=${this.parameters.get("text")??""} @change=${s=>this.set("text",s.target.value)} />
    </div>`}item(t){let{completion:e}=t,[s,a]=T[e?.verdict??""]??["warn","Nothing is proposed yet"];return i`<article class="card roomy" tabindex="-1" aria-label="Gap to decide">
        <div class="in stack">
          <p class="v ${t.status==="open"?s:t.status==="accepted"?"ok":"no"}">${t.status==="open"?a:t.status==="accepted"?"Filled":"Set aside"}</p>
          <h1>${h(t)}</h1>
          <p class="soft">${y(t.message)}</p>
        </div>
        <table class="facts ruled"><tbody>
          ${e?i`<tr><th scope="row">Proposed</th><td>${e.statements.length?e.statements.map(r=>i`<p>${u(r)}</p>`):i`<b>${e.value}</b>`}</td>
              <td class="right small faint">${e.model}</td></tr>`:n}
          <tr><th scope="row">Asked</th><td colspan="2">${t.questions.map(r=>i`<p><a href=${`#/${o("ask",{q:r.question,context:r.context})}`}>${r.question}</a></p>`)}
            <p class="small faint">${E(t.asked)} by ${t.askers===1?"one asker":`${t.askers} askers`}</p></td></tr>
          ${t.terms?.subject&&g(t.terms.subject)?i`<tr><th scope="row">Look at</th><td colspan="2"><a href=${v(t.terms.subject)}>${t.subject}</a></td></tr>`:n}
          ${t.decisions.map(r=>i`<tr><th scope="row">${r.outcome==="open"?"Reopened":r.outcome==="accepted"?"Filled":"Set aside"}</th><td colspan="2">by ${r.by}
            <span class="faint small num">${r.at.slice(0,16).replace("T"," ")}</span>${r.reason?i`<p class="why">${r.reason}</p>`:n}</td></tr>`)}
        </tbody></table>
      </article>
      ${this.bar(t)}`}bar(t){if(!this.may("review"))return i`<div class="note"><p>You may read the gaps. To fill them, sign in with a key of the scope “review”.</p></div>`;if(t.status==="rejected")return i`<div class="bar"><button class="btn" @click=${()=>{this.turn("reopen")}}>Open again</button></div>`;if(t.status!=="open")return n;if(this.reason!==null)return i`<form class="bar" @submit=${a=>(a.preventDefault(),void this.turn("reject"))}>
        <label class="field grow">Why is it not to be filled?<input autocomplete="off" .value=${this.reason} @input=${a=>this.reason=a.target.value} /></label>
        <button class="btn main">Set aside</button><button class="btn" type="button" @click=${()=>this.setAside(null)}>Cancel</button></form>`;let e=[t.subject,t.property,t.object].filter(a=>a==="?").length===1&&t.property!=="?",s=t.completion!==null||this.value.trim()!=="";return i`<form class="bar still" @submit=${a=>(a.preventDefault(),void this.accept(this.tried===null))}>
      ${e?i`<label class="field grow">${t.completion?"Or what you know":"What you know"}
        <input id="value" autocomplete="off" placeholder="A name, a date or a number" .value=${this.value} @input=${a=>this.write(a.target.value)} /></label>`:n}
      ${s||e?i`<button class="btn ${s?"main":""}" ?disabled=${!s||this.working!==""}>${this.tried===null?"Try it":"Commit it"}</button>`:i`<button class="btn" type="button" @click=${()=>{this.accept(!1)}}>Ask again</button>`}
      <button class="btn" type="button" ?disabled=${this.working!==""} @click=${()=>{this.look("verify")}}>Look in texts</button>
      <button class="btn" type="button" ?disabled=${this.working!==""} @click=${()=>{this.look("complete")}}>Ask the model</button>
      <button class="btn" type="button" @click=${()=>this.setAside("")}>Set aside</button>
      ${this.tried===null?n:i`<p class="small foreseen" role="status">Would enter the graph: ${this.tried.map(a=>i`${u(a,{object:$(a.object)})} `)}</p>`}
    </form>`}write(t){this.value=t,this.tried=null,this.requestUpdate()}setAside(t){this.reason=t,this.requestUpdate()}passages(t){return t.passages.length?i`<details class="card" ?open=${t.passages.some(e=>e.match)}><summary>Passages read <span class="small faint">${t.passages.length}</span></summary>
      <ul class="items">${t.passages.map(e=>i`<li><p class="quote s">${e.match?i`${e.text.slice(0,e.match.start)}<span class="ok"><span class="link">${e.match.quote}</span></span>${e.text.slice(e.match.end)}`:e.text}</p><p class="small faint">${e.title||e.source}${e.document?i` · <a href=${`#/text/${e.document.split("/").pop()}`}>whole text</a>`:n}</p></li>`)}</ul></details>`:n}};function E(c){return c===1?"once":c===2?"twice":`${c} times`}customElements.define("ukg-gaps",m);
