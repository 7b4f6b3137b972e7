/** Whole numbers that the lens keeps by name. */
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { STATE } from './tables.ts'

export function counter(reader: StoreReader, name: string): number | undefined {
  return reader.table(STATE).get({ name })?.['value'] as number | undefined
}

export function setCounter(writer: StoreWriter, name: string, value: number): void {
  writer.table(STATE).put({ name, value })
}
