/** The engine as every part of `bench/scale.ts` opens it, and what it holds. */
import { modelKey } from '../../../src/embed/embedder.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { openEngine } from '../../../src/engine/open.ts'
import { miniLm } from '../stand-in.ts'
import { openScaleStandIn } from './store.ts'

/** Names of both indexes. */
export const VECTORS = `vectors-${modelKey(await miniLm())}`
export const INDEXES: readonly string[] = ['words', VECTORS]

export async function openAt(home: string): Promise<Engine> {
  return openEngine({ home, embedder: await openScaleStandIn(), background: false })
}

/** Of an index without its model. */
export function shortName(index: string): string {
  return index.split('-')[0] as string
}

/** Bytes held once what is not needed was let go. */
export async function rest(): Promise<number> {
  for (let at = 0; at < 5; at++) {
    globalThis.gc?.()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return process.memoryUsage.rss()
}
