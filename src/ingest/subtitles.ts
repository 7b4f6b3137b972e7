/**
 * Reads subtitle files (SubRip, WebVTT): the content is the spoken text without numbers and times; the times become named places in the
 * text.
 */
import type { Steps } from '../base/turns.ts'
import type { FileReading, Ingester, SourceFile } from '../model/ingester.ts'
import { chunkInSteps } from '../text/chunk.ts'
import type { PlaceMark } from '../text/outline.ts'
import { nameWithoutExtension, WHOLE_FILE } from './values.ts'

/** Number of UTF-16 units of spoken text that share one place mark (a time range). */
const PLACE_LENGTH = 400

export const subtitles: Ingester = {
  name: 'subtitles',
  version: 2,
  accepts: file => ['srt', 'vtt'].includes(file.extension),
  read,
}

const TIMES = /^((?:\d{1,3}:)?\d{1,2}:\d{2})[.,]\d{1,3}\s*-->\s*((?:\d{1,3}:)?\d{1,2}:\d{2})[.,]\d{1,3}/

interface Cue {
  readonly from: string
  readonly to: string
  readonly text: string
}

function* read(file: SourceFile): Steps<FileReading> {
  const cues: Cue[] = []
  for (const block of file.text.replace(/\r\n?/g, '\n').split(/\n{2,}/)) {
    yield
    // A block is also split before each line of times, because the blank line between two cues (captions with their times) is often
    // missing.
    for (const part of block.split(/^(?=.*-->)/m)) {
      const [head = '', ...said] = part.split('\n')
      const times = TIMES.exec(head)
      const text = plain(said.join(' '))
      // A cue with the text of the previous cue is skipped: captions that scroll up repeat their last line.
      if (times === null || text === '' || text === cues.at(-1)?.text) continue
      cues.push({ from: times[1] as string, to: times[2] as string, text })
    }
  }
  if (cues.length === 0) {
    const isBlank = file.text.trim() === ''
    return {
      documents: [],
      problems: isBlank ? [] : [{ line: null, message: 'not subtitles: it has no line with times' }],
    }
  }
  const { content, places } = written(cues)
  const entry = {
    ...{ ...WHOLE_FILE, title: nameWithoutExtension(file), content },
    chunks: yield* chunkInSteps(content, { form: 'prose', headings: [], places }),
    ...{ kind: 'document', tags: [], metadata: { path: file.path } },
  }
  return { documents: [entry], problems: [] }
}

function written(cues: readonly Cue[]): { readonly content: string; readonly places: readonly PlaceMark[] } {
  const lines: string[] = []
  const places: { readonly at: number; text: string }[] = []
  let length = 0
  let first: Cue | null = null
  for (const cue of cues) {
    const open = places.at(-1)
    if (open === undefined || first === null || length - open.at + cue.text.length > PLACE_LENGTH) {
      first = cue
      places.push({ at: length, text: '' })
    }
    ;(places.at(-1) as { text: string }).text = `${first.from}-${cue.to}`
    lines.push(`${cue.text}\n`)
    length += cue.text.length + 1
  }
  return { content: lines.join(''), places }
}

/** Text of a cue (a caption) without style and position tags; the name of the speaker, if the cue has one, comes first. */
function plain(text: string): string {
  return text
    .replace(/<v(?:\.[^\s>]{0,100})? ([^>]{1,200})>/g, '$1: ')
    .replace(/<[^>]{0,200}>|\{\\[^}]{0,200}\}/g, '')
    .replace(/&(amp|lt|gt|nbsp|lrm|rlm);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', nbsp: ' ' }
