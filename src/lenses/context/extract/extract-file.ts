/**
 * Reads one file: its concepts and what they refer to. Equal path and text always give an equal extraction, whatever other files contain.
 * From source with syntax errors, everything that can be read is kept.
 */
import {
  type Extraction,
  type Grammar,
  grammarOf,
  type Language,
  languageOf,
  MAX_CHARACTERS,
  type Skip,
} from './concept.ts'
import { type Linked, readDefinitions } from './definitions.ts'
import { Draft, Overdue, TooMany } from './draft.ts'
import { GO } from './go.ts'
import type { Grammars, IsOverdue, SyntaxTree } from './grammars.ts'
import { JAVA } from './java.ts'
import { readMarkdown } from './markdown.ts'
import { readPython } from './python.ts'
import { soundText, withoutGaps } from './repair.ts'
import { moduleSettings } from './resolve/script-modules.ts'
import { RUST } from './rust.ts'
import { readScript } from './script.ts'

/** Limit in ms of processor time for reading one file, to be set by callers; a large file takes about a second per megabyte. */
export const MAX_READ_MS = 5_000

/** Largest length of a text, in characters, for which a repair of syntax errors is tried; a longer text is read once, unchanged. */
const MAX_REPAIRED = 1_000_000

interface ExtractOptions {
  /** Called often while the file is read; when it returns true, reading ends and the file is skipped as `too_slow`. */
  readonly isOverdue: IsOverdue
}

/** Extracts concepts and references from one file. The grammar of its language must have been loaded with `grammarsFor`. */
export function extractFile(
  path: string,
  text: string,
  grammars: Grammars,
  { isOverdue }: ExtractOptions,
): Extraction | Skip {
  if (text.length > MAX_CHARACTERS) return { reason: 'too_large' }
  const language = languageOf(path)
  const draft = new Draft(path, text, language, isOverdue)
  try {
    addFile(draft)
    const grammar = grammarOf(language)
    if (grammar !== null) return readCode(draft, grammar, grammars, isOverdue)
    readPlain(draft, language)
    return draft.finish()
  } catch (error) {
    if (error instanceof Overdue) return { reason: 'too_slow' }
    if (error instanceof TooMany) return { reason: 'too_many' }
    throw error
  }
}

/**
 * Reads source code. A text with syntax errors is also read in repaired forms, and the reading that finds most declarations is kept; of
 * readings with equally many, the one that leaves least text unread.
 */
function readCode(first: Draft, grammar: Grammar, grammars: Grammars, isOverdue: IsOverdue): Extraction {
  const { path, text, language } = first
  const parse = (parsed: string): SyntaxTree => inTime(grammars.parse(grammar, text, isOverdue, parsed))
  const read = (draft: Draft, tree: SyntaxTree, damage: number): Reading => {
    draft.hasErrors = damage > 0
    readTree(draft, tree)
    return { extraction: draft.finish(), damage }
  }
  /**
   * Reads the file from a repaired text. `more`: number of characters that the repair removed; they are counted as unread when readings are
   * compared.
   */
  const again = (parsed: string, more: number): Reading => {
    const draft = new Draft(path, text, language, isOverdue)
    addFile(draft)
    const tree = parse(parsed)
    return read(draft, tree, tree.damage + more)
  }
  const tree = parse(text)
  let best = read(first, tree, tree.damage)
  if (best.damage === 0 || text.length > MAX_REPAIRED) return best.extraction
  const known = withoutGaps(text, language)
  if (known !== null) best = better(best, again(known, 0))
  if (best.damage === 0) return best.extraction
  const sound = soundText(known ?? text, language, part => inTime(grammars.isSound(grammar, part, isOverdue)))
  return (sound === null ? best : better(best, again(sound.text, sound.blanked + 1))).extraction
}

function inTime<T>(result: T | null): T {
  if (result === null) throw new Overdue()
  return result
}

interface Reading {
  readonly extraction: Extraction
  readonly damage: number
}

/**
 * The better of two readings of a file with syntax errors. An error that swallows a bracket makes later declarations part of an earlier
 * one, so of otherwise equal readings the one with less nesting is chosen.
 */
function better(a: Reading, b: Reading): Reading {
  if (a.damage === 0 || b.damage === 0) return a.damage === 0 ? a : b
  const more = b.extraction.concepts.length - a.extraction.concepts.length
  const deeper = depthOf(b.extraction) - depthOf(a.extraction)
  const isBetter = more !== 0 ? more > 0 : deeper !== 0 ? deeper < 0 : b.damage < a.damage
  return isBetter ? b : a
}

function depthOf({ concepts }: Extraction): number {
  return concepts.reduce((sum, { qualifiedName }) => sum + qualifiedName.split('.').length, 0)
}

export function isSkip(result: Extraction | Skip): result is Skip {
  return 'reason' in result
}

/** Adds the concept that represents the file itself. */
function addFile(draft: Draft): void {
  const { path, text, language } = draft
  const span = { start: 0, end: text.length }
  if (grammarOf(language) !== null) draft.add({ type: 'Module', name: path, qualifiedName: path, ...span })
  else if (language === 'text')
    draft.add({ type: 'Entity', name: baseName(path), qualifiedName: baseName(path), ...span })
  else draft.add({ type: 'Document', name: path, qualifiedName: path, ...span })
}

const LINKED: Partial<Record<Language, Linked>> = { go: GO, java: JAVA, rust: RUST }

function readTree(draft: Draft, tree: SyntaxTree): void {
  const { language } = draft
  if (language === 'python') readPython(draft, tree)
  else if (/^(?:typescript|tsx|javascript)$/.test(language)) readScript(draft, tree)
  else readDefinitions(draft, tree, LINKED[language])
}

function readPlain(draft: Draft, language: Language): void {
  if (language === 'markdown') readMarkdown(draft)
  if (language === 'json' || language === 'text') draft.settings = moduleSettings(draft.path, draft.text)
}

/** Name of a file without its folders and its ending. */
function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? name : name.slice(0, dot)
}
