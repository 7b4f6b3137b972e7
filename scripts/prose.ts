/** The sentences of a Markdown page, without code, tables, headings and links' targets. */

/** Words a sentence, on average over a page. */
export const MAX_AVERAGE = 20

/** A page with fewer sentences has no average worth checking. */
const MIN_SENTENCES = 5

export function proseOf(markdown: string): readonly string[] {
  const text = markdown
    .replace(/^```[\s\S]*?^```/gm, '\n')
    .replace(/^(#|\||!\[|<).*$/gm, '\n')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/^\s*([-*]|\d+\.) /gm, '\n\n')
  return text
    .split(/\n\s*\n/)
    .flatMap(paragraph => paragraph.replaceAll(/\s+/g, ' ').split(/(?<=[.!?:][)"*]*) (?=["*([]*[A-Zc])/))
    .filter(sentence => countWords(sentence) > 1)
}

export function averageLength(sentences: readonly string[]): number {
  if (sentences.length < MIN_SENTENCES) return 0
  return sentences.reduce((sum, sentence) => sum + countWords(sentence), 0) / sentences.length
}

function countWords(sentence: string): number {
  return sentence.match(/[\p{L}\p{N}][\p{L}\p{N}'.-]*/gu)?.length ?? 0
}
