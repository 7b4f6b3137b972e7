/** What the indexer's concepts are known by in the store: a concept of a file by its key there, a package by its name. */
import { storableText } from '../../../base/storable.ts'
import type { Extraction } from '../extract/concept.ts'

const PACKAGE = 'Package '

export function symbolOf(key: string): string {
  return storableText(key)
}

/** In the order of its concepts; none: the file was kept without. */
export function symbolsOf(extraction: Extraction | null): readonly string[] {
  return extraction?.concepts.map(({ key }) => symbolOf(key)) ?? []
}

/** Whether it is a file's own concept, which has its path for a name. */
export function isOfFile(symbol: string): boolean {
  // A module of Rust is a part of a file; the path of a file has an ending.
  return /^(?:Document|Entity) |^Module .*\.\w+$/s.test(symbol)
}

export function packageSymbol(name: string): string {
  return storableText(`${PACKAGE}${name}`)
}

export function packageNamed(symbol: string): string {
  return symbol.slice(PACKAGE.length)
}
