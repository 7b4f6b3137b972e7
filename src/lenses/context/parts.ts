/** The two parts of the lens in the store, named body (files and text) and mind (concepts and links), and their counters. */
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { refusal } from './envelope.ts'
import { STATE } from './tables.ts'

export type Part = 'body' | 'mind'

const NOT_THERE: Readonly<Record<Part, string>> = {
  body: 'body not initialized (call /body/init)',
  mind: 'mind not initialized (call /mind/init)',
}

export function isInitialised(reader: StoreReader, part: Part): boolean {
  return reader.table(STATE).get({ name: part }) !== undefined
}

/** False: it was there already. */
export function initialise(writer: StoreWriter, part: Part): boolean {
  if (isInitialised(writer, part)) return false
  writer.table(STATE).put({ name: part, value: 1 })
  return true
}

/** Throws `Refusal` with code `not_initialized`. */
export function mustBeInitialised(reader: StoreReader, ...parts: readonly Part[]): void {
  for (const part of parts) if (!isInitialised(reader, part)) throw refusal(part, 'not_initialized', NOT_THERE[part])
}

/** The next id; what was given once is never given again. */
export function nextId(writer: StoreWriter, of: 'concept' | 'edge'): number {
  return nextIds(writer, of, 1)
}

/** The first of so many ids in a row. */
export function nextIds(writer: StoreWriter, of: 'concept' | 'edge', count: number): number {
  const name = `next_${of}`
  const id = counter(writer, name) ?? 1
  setCounter(writer, name, id + count)
  return id
}

export function counter(reader: StoreReader, name: string): number | undefined {
  return reader.table(STATE).get({ name })?.['value'] as number | undefined
}

export function setCounter(writer: StoreWriter, name: string, value: number): void {
  writer.table(STATE).put({ name, value })
}
