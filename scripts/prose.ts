/** Sentences of pages and of help, and how long they are. */

/** Words a sentence, on average over a page. */
export const MAX_AVERAGE = 20

/** A page with fewer sentences has no average worth checking. */
const MIN_SENTENCES = 5

/** Without code, tables, headings and targets of links. */
export function proseOf(markdown: string): readonly string[] {
  const text = markdown
    .replace(/^```[\s\S]*?^```/gm, '\n')
    .replace(/^(#|\||!\[|<).*$/gm, '\n')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/^\s*([-*]|\d+\.) /gm, '\n\n')
  return text
    .split(/\n\s*\n/)
    .flatMap(paragraph => paragraph.replaceAll(/\s+/g, ' ').split(/(?<=[.!?][)"*]*) (?=["*([]*(?:[A-Z\d]|code\b))/))
    .filter(sentence => countWords(sentence) > 1)
}

/** Help and messages of a module: summaries, descriptions of fields, and texts of errors. */
export function helpOf(code: string): readonly string[] {
  const texts = [...code.matchAll(HELP)].map(([, , text = '']) => text.replaceAll(/\\?`[^`]*`|\$\{[^}]*\}/g, 'code'))
  return texts.flatMap(text => proseOf(text))
}

const HELP = /(?:describe\(|description:|summary:|about:|help:|message = )\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/g

export function averageLength(sentences: readonly string[]): number {
  if (sentences.length < MIN_SENTENCES) return 0
  return sentences.reduce((sum, sentence) => sum + countWords(sentence), 0) / sentences.length
}

function countWords(sentence: string): number {
  return sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'.-]*/gu)?.length ?? 0
}
