import { afterAll, beforeAll } from 'vitest'
import { openHttpEmbedder } from '../../src/embed/http-embedder.ts'
import { type LocalEmbedder, openLocalEmbedder } from '../../src/embed/local-embedder.ts'
import { cacheQueries } from '../../src/embed/query-cache.ts'
import { type Loopback, sendJson, startLoopback } from '../support/loopback.ts'
import { modelFolder } from '../support/model.ts'
import { embedderSuite } from './embedder-suite.ts'

const folder = modelFolder()

embedderSuite('local, native runtime', () => openLocalEmbedder({ folder, runtime: 'native' }))
embedderSuite('local, WebAssembly runtime', () => openLocalEmbedder({ folder, runtime: 'wasm' }))
embedderSuite('local, loaded at first use, behind a query cache', async () =>
  cacheQueries(await openLocalEmbedder({ folder, start: 'first-use' }), 10),
)

/** A provider on the loopback interface: the local model behind both ways of asking. */
let provider: Loopback
let model: LocalEmbedder
beforeAll(async () => {
  model = await openLocalEmbedder({ folder })
  provider = await startLoopback(async ({ path, body }, response) => {
    const vectors = (await model.embed(JSON.parse(body).input, 'passage')).map(vector => [...vector])
    const openai = { data: vectors.map((embedding, index) => ({ index, embedding })).reverse() }
    sendJson(response, 200, path === '/v1/embeddings' ? openai : { embeddings: vectors })
  })
})
afterAll(async () => {
  await provider.close()
  await model.close()
})

embedderSuite('OpenAI-compatible provider over HTTP', () =>
  openHttpEmbedder({ provider: 'openai', model: 'minilm', baseUrl: `${provider.url}/v1`, maxTokens: 512 }),
)
embedderSuite('Ollama over HTTP', () =>
  openHttpEmbedder({ provider: 'ollama', model: 'minilm', baseUrl: provider.url, dimensions: 384 }),
)
