/**
 * Places the starter vocabulary by meaning: writes the numbers of anchors in src/lenses/chroma/colour/starter.ts. Hashtags of a zone
 * share out anchors that are spread over all of it, so that near each there is room for others. Which hashtag gets which is found by
 * swapping (simulated annealing): what is near in meaning, by the packaged model, is to be near in L*a*b*. The same words give the same
 * numbers. Takes about a minute: `node scripts/on24.mjs scripts/place-vocabulary.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openLocalEmbedder } from '../src/embed/local-embedder.ts'
import { PACKAGED_MODEL_FOLDER } from '../src/embed/open-embedder.ts'
import { starterVocabulary } from '../src/lenses/chroma/colour/bindings.ts'
import { wordsOf } from '../src/lenses/chroma/colour/coordinates.ts'
import { STACK, ZONE_BOUNDS } from '../src/lenses/chroma/colour/stack.ts'
import type { Anchor, Zone } from '../src/lenses/chroma/model.ts'
import { dot } from '../src/math/vector.ts'
import { seededUniform } from '../test/support/seeded.ts'

interface Word {
  readonly zone: Zone
  /** Of length 1. */
  readonly vector: Float32Array
}

/** Nearest in meaning that pull at a word, of its own zone and of all. */
const OWN = 6
const ALL = 2

/** Anchor ids in the order of the words. `swaps`: tries; 20 million take about 20 seconds. */
export function placed(words: readonly Word[], swaps: number): readonly number[] {
  const anchors = new Array<Anchor>(words.length)
  const members = (Object.keys(ZONE_BOUNDS) as Zone[]).map(zone =>
    [...words.keys()].filter(at => words[at]?.zone === zone),
  )
  for (const own of members) {
    const zone = words[own[0] ?? 0]?.zone as Zone
    for (const [at, anchor] of spread(zone, own.length).entries()) anchors[own[at] as number] = anchor
  }
  const pulls = pullsOf(words)
  const energyOf = (at: number) => {
    let sum = 0
    for (const [other, weight] of pulls[at] ?? [])
      sum += weight * distanceOf(anchors[at] as Anchor, anchors[other] as Anchor)
    return sum
  }
  const swap = (one: number, other: number) => {
    const held = anchors[one] as Anchor
    anchors[one] = anchors[other] as Anchor
    anchors[other] = held
  }
  const random = seededUniform(7)
  for (let step = 0; step < swaps; step++) {
    const own = members[pickedBy(members, random() * words.length)] as readonly number[]
    const one = own[Math.floor(random() * own.length)] as number
    const other = own[Math.floor(random() * own.length)] as number
    if (one === other) continue
    const before = energyOf(one) + energyOf(other)
    swap(one, other)
    const worse = energyOf(one) + energyOf(other) - before
    const heat = HOT * (COLD / HOT) ** (step / swaps)
    if (worse > 0 && random() >= Math.exp(-worse / heat)) swap(one, other)
  }
  return anchors.map(({ id }) => id)
}

/** In units of a distance weighted by a cosine. */
const HOT = 100
const COLD = 0.3

function pickedBy(members: readonly (readonly number[])[], at: number): number {
  let passed = 0
  return members.findIndex(own => {
    passed += own.length
    return at < passed
  })
}

/** For each word the others that pull at it, both ways, by the square of their cosine. */
function pullsOf(words: readonly Word[]): readonly (readonly (readonly [number, number])[])[] {
  const pulls = words.map(() => new Map<number, number>())
  for (const [at, { zone, vector }] of words.entries()) {
    const near = words
      .map((word, other) => ({ other, cosine: dot(vector, word.vector), isOwn: word.zone === zone }))
      .filter(({ other, cosine }) => other !== at && cosine > 0)
      .sort((a, b) => b.cosine - a.cosine || a.other - b.other)
    for (const { other, cosine } of [...near.filter(({ isOwn }) => isOwn).slice(0, OWN), ...near.slice(0, ALL)]) {
      pulls[at]?.set(other, cosine ** 2)
      pulls[other]?.set(at, cosine ** 2)
    }
  }
  return pulls.map(of => [...of])
}

/** So many anchors of a zone, each as far as can be from those before it. */
function spread(zone: Zone, count: number): readonly Anchor[] {
  const { first, last } = ZONE_BOUNDS[zone]
  const anchors = STACK.anchors.slice(first - 1, last)
  const gaps = anchors.map(() => Number.POSITIVE_INFINITY)
  const chosen: Anchor[] = []
  for (let next = 0; chosen.length < count; next = gaps.indexOf(Math.max(...gaps))) {
    const anchor = anchors[next] as Anchor
    chosen.push(anchor)
    for (const [at, other] of anchors.entries()) gaps[at] = Math.min(gaps[at] as number, distanceOf(anchor, other))
  }
  return chosen
}

function distanceOf(one: Anchor, other: Anchor): number {
  return Math.sqrt((one.L - other.L) ** 2 + (one.a - other.a) ** 2 + (one.b - other.b) ** 2)
}

async function main(): Promise<void> {
  const file = fileURLToPath(new URL('../src/lenses/chroma/colour/starter.ts', import.meta.url))
  const vocabulary = starterVocabulary()
  const embedder = await openLocalEmbedder({ folder: PACKAGED_MODEL_FOLDER })
  const vectors = await embedder.embed(
    vocabulary.map(({ hashtag }) => wordsOf(hashtag)),
    'passage',
  )
  await embedder.close()
  const words = vocabulary.map(({ zone }, at) => ({ zone, vector: vectors[at] as Float32Array }))
  const ids = placed(words, 20_000_000)
  const anchorOf = new Map(vocabulary.map(({ hashtag }, at) => [hashtag.slice(1), ids[at]]))
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replaceAll(/(?<=\s)(\S+)=\d+(?=\s)/g, (_, word: string) => `${word}=${anchorOf.get(word)}`),
  )
}

if (import.meta.main) await main()
