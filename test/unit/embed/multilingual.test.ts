/** The multilingual model gives what the Python package that its weights come from gives. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openLocalEmbedder } from '../../../src/embed/local-embedder.ts'
import { openTokenizer } from '../../../src/embed/tokenizer.ts'

/** Recorded by scripts/universal-encoder/record-golden.py. */
interface Golden {
  readonly text: string
  readonly tokens: readonly number[]
  /** 512 signed bytes in base64: the vector but for its length. */
  readonly vector: string
}

const at = (path: string) => new URL(`../../../${path}`, import.meta.url).pathname
const folder = at('model-multilingual')
const golden: readonly Golden[] = JSON.parse(readFileSync(at('test/fixtures/multilingual/golden.json'), 'utf8'))

describe.skipIf(!existsSync(join(folder, 'manifest.json')))('the folder model-multilingual, where it was built', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))

  it('splits texts of fifteen languages into the tokens of the package', () => {
    const tokenize = openTokenizer(read('tokenizer.json'), read('tokenizer_config.json'), 256)
    const differing = golden.filter(({ text, tokens }) => JSON.stringify(tokenize(text)) !== JSON.stringify(tokens))
    expect(differing.map(({ text, tokens }) => ({ text, tokens, found: tokenize(text) }))).toEqual([])
  })

  it.each(['native', 'wasm'] as const)(
    'gives the vectors of the package to a cosine of .999 on the %s runtime',
    async runtime => {
      const embedder = await openLocalEmbedder({ folder, runtime, threads: 1 })
      try {
        expect(await embedder.ready()).toBe(runtime)
        const texts = golden.map(({ text }) => text)
        const vectors = await embedder.embed(texts, 'passage')
        const worst = Math.min(...golden.map(({ vector }, i) => cosine(vectors[i] as Float32Array, bytesOf(vector))))
        expect(worst).toBeGreaterThan(0.999)
      } finally {
        await embedder.close()
      }
    },
  )
})

function bytesOf(base64: string): Int8Array {
  return new Int8Array(Buffer.from(base64, 'base64'))
}

function cosine(unit: Float32Array, other: Int8Array): number {
  let [dot, square] = [0, 0]
  for (const [i, value] of other.entries()) {
    dot += value * (unit[i] as number)
    square += value * value
  }
  return dot / Math.sqrt(square)
}
