/** The embedders of one question to several collections, which may each have been embedded by another. */
import type { Embedder } from '../../embed/embedder.ts'
import { openEmbedder } from '../../embed/open-embedder.ts'
import { type GivenEmbedder, isEmbedder } from '../given-embedder.ts'
import type { QueryCollectionsOptions } from './collections-options.ts'

type Given = Pick<QueryCollectionsOptions, 'embedders' | 'signal'>

export interface StandardEmbedder {
  open(): Promise<Embedder | null>
  /** Opened here, so closed here. */
  readonly isOurs: boolean
}

/** A text is embedded once by each, and those that were opened here are closed here. */
export class QuestionEmbedders {
  readonly #standard: StandardEmbedder
  readonly #given: Given
  readonly #opened: Promise<Embedder | null>[] = []
  readonly #vectors = new Map<unknown, Promise<Float32Array | null>>()

  constructor(standard: StandardEmbedder, given: Given) {
    this.#standard = standard
    this.#given = given
  }

  readonly embed = (text: string, collection: string): Promise<Float32Array | null> => {
    const own = this.#given.embedders?.[collection]
    const known = this.#vectors.get(own)
    if (known !== undefined) return known
    const made = this.#embed(text, own)
    this.#vectors.set(own, made)
    return made
  }

  async close(): Promise<void> {
    for (const opening of this.#opened) await (await opening.catch(() => null))?.close()
  }

  async #embed(text: string, own: GivenEmbedder | undefined): Promise<Float32Array | null> {
    const opening = own === undefined ? this.#standard.open() : embedderOf(own)
    const isOurs = own === undefined ? this.#standard.isOurs : !isEmbedder(own)
    if (isOurs) this.#opened.push(opening)
    const embedder = await opening
    const [vector] = (await embedder?.embed([text], 'query', this.#given.signal)) ?? []
    return vector ?? null
  }
}

export function embedderOf(given: GivenEmbedder | 'none'): Promise<Embedder | null> {
  if (given === 'none') return Promise.resolve(null)
  if (isEmbedder(given)) return Promise.resolve(given)
  return openEmbedder(given, { baseFolder: process.cwd(), env: process.env, start: 'first-use' })
}
