/** An embedder that keeps every vector on disk by the hash of its text: embedding a collection takes minutes. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/base/canonical.ts'
import { type Embedder, type EmbedKind, modelKey } from '../../src/embed/embedder.ts'

const FOLDER = fileURLToPath(new URL('../out/', import.meta.url))
const HASH_BYTES = 32

/** Closing it closes the embedder within. */
export function cacheOnDisk(inner: Embedder): Embedder {
  mkdirSync(FOLDER, { recursive: true })
  const file = `${FOLDER}embedded-${modelKey(inner.model)}.bin`
  const known = existsSync(file) ? readVectors(file, inner.model.dimensions) : new Map<string, Float32Array>()
  const embedOne = async (text: string, kind: EmbedKind, signal?: AbortSignal): Promise<Float32Array> => {
    const hash = sha256(`${kind}\n${text}`)
    const found = known.get(hash)
    if (found !== undefined) return found
    const [vector] = (await inner.embed([text], kind, signal)) as [Float32Array]
    known.set(hash, vector)
    appendFileSync(file, Buffer.concat([Buffer.from(hash, 'hex'), Buffer.from(vector.slice().buffer)]))
    return vector
  }
  return {
    model: inner.model,
    embed: (texts, kind, signal) => Promise.all(texts.map(text => embedOne(text, kind, signal))),
    close: () => inner.close(),
  }
}

function readVectors(file: string, dimensions: number): Map<string, Float32Array> {
  const bytes = readFileSync(file)
  const size = HASH_BYTES + dimensions * 4
  const vectors = new Map<string, Float32Array>()
  for (let at = 0; at + size <= bytes.length; at += size) {
    const hash = bytes.subarray(at, at + HASH_BYTES).toString('hex')
    const start = bytes.byteOffset + at
    vectors.set(hash, new Float32Array(bytes.buffer.slice(start + HASH_BYTES, start + size)))
  }
  return vectors
}
