/** Exports of conversations, of any format, to the normal form. */
import { invalidArgument } from '../../../model/errors.ts'
import type { Conversation, Profile } from '../model.ts'
import { checkChatMap } from './chat-fields.ts'
import { detect, filesOf } from './detect.ts'
import { finished } from './draft.ts'
import { checkFiles, type ExportFile } from './export-file.ts'
import { Findings, namesOf, type Problem } from './findings.ts'
import { type ChatFormat, FORMATS } from './formats.ts'
import type { DateOrder } from './whatsapp-dates.ts'
import { zoneOf } from './zones.ts'

export interface ReadingOptions {
  /** Absent: told from the content. */
  readonly format?: ChatFormat | undefined
  /** Absent: `assistant` for conversations in which an assistant speaks, else `people`. */
  readonly profile?: Profile | undefined
  /** Of times without one: `+02:00`, `Europe/Madrid`. Absent: UTC. */
  readonly zone?: string | undefined
  /** For JSONL: our field to theirs. */
  readonly map?: Readonly<Record<string, string>> | undefined
  /** Name of the conversation, where a file holds one and does not name it. */
  readonly conversation?: string | undefined
  /** For WhatsApp. Absent: told from the file. */
  readonly dateOrder?: DateOrder | undefined
}

/**
 * Conversations one after the other, as they are found; those of ChatGPT and Claude are read one at a time however large
 * the file. What could not be read is told to `findings`. Throws `invalid_argument` or `unknown_field` for options, and
 * `invalid_argument` where the format is not told and cannot be found out.
 */
export async function* readConversations(
  files: readonly ExportFile[],
  options: ReadingOptions,
  findings: Findings,
): AsyncIterable<Conversation> {
  checkFiles(files)
  const { map = {}, zone, conversation = null, dateOrder = null } = options
  checkChatMap(map)
  const readerOptions = { map, zone: zone === undefined ? null : zoneOf(zone), conversation, dateOrder }
  const {
    format,
    files: own,
    others,
  } = options.format === undefined ? await detect(files, map) : filesOf(options.format, files)
  if (own.length === 0) throw invalidArgument('format', options.format, 'a format that one of the files has')
  const names = namesOf(others.map(path => path.replace(/^.*[\\/]/, '')))
  findings.leave(`file that is no part of the export (${names})`, others.length)
  const seen = new Set<string>()
  for await (const draft of FORMATS[format].read(own, readerOptions, findings)) {
    const place = draft.messages[0]?.place ?? { path: (own[0] as ExportFile).path }
    if (seen.has(draft.id)) {
      findings.problem(place, `the conversation ${draft.id} was there before; read the two exports one after the other`)
      continue
    }
    seen.add(draft.id)
    const conversation = finished(draft, options.profile ?? null, findings)
    if (conversation === null) findings.leave('conversation without a message')
    else yield conversation
  }
}

export interface Reading {
  readonly conversations: readonly Conversation[]
  readonly problems: readonly Problem[]
  /** Problems beyond those listed. */
  readonly untold: number
  /** How many there were of what is no message, by what it is. */
  readonly left: Readonly<Record<string, number>>
}

/** All of them at once. */
export async function readAll(files: readonly ExportFile[], options: ReadingOptions = {}): Promise<Reading> {
  const findings = new Findings()
  const conversations: Conversation[] = []
  for await (const conversation of readConversations(files, options, findings)) conversations.push(conversation)
  return { conversations, problems: findings.problems, untold: findings.untold, left: findings.left }
}
