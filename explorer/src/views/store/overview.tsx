import type { Status } from '../../../../src/engine/engine.ts'
import { bytes, count, share } from '../../parts/format.ts'

export function Overview({ status }: { readonly status: Status }) {
  const { version, home, entries, chunks, embedded, embedder, embedder_error: failure, lenses, storage } = status
  return (
    <>
      {home !== null && (
        <p class="quiet small">
          in <code>{home}</code>
          {storage?.to_erase && '; of what was deleted, bytes are still to be erased from its log'}
        </p>
      )}
      <dl class="store-numbers">
        <Figure name="Entries" value={count(entries)} />
        <Figure name="Chunks" value={count(chunks)} />
        <Figure name="Lenses" value={count(lenses.length)} />
        {storage !== null && <Figure name="Log" value={bytes(storage.log_bytes)} />}
        <Figure name="Querent" value={version} />
      </dl>
      <section class="card" aria-label="Embedding">
        <h2>Embedding</h2>
        {embedder === null ? (
          <p>There is no embedder: questions are answered by words alone.</p>
        ) : (
          <>
            <Embedding embedded={embedded} chunks={chunks} />
            <p class="quiet small">
              {embedder.id}, {embedder.dimensions} dimensions
              {embedder.runs_on !== null &&
                `, ${embedder.runs_on.runtime === 'native' ? 'native' : 'WebAssembly'} runtime`}
            </p>
          </>
        )}
        {failure !== null && <p class="bad">{failure}</p>}
      </section>
    </>
  )
}

function Embedding({ embedded, chunks }: { readonly embedded: number; readonly chunks: number }) {
  const part = chunks === 0 ? 1 : embedded / chunks
  return (
    <>
      <progress max={1} value={part} aria-label="Chunks that have a vector" />
      <p role="status">
        {part === 1 ? 'Everything is embedded.' : `${share(part)}: ${count(embedded)} of ${count(chunks)} chunks.`}
      </p>
    </>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div class="card">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
