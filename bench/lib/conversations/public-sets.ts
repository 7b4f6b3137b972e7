/**
 * The public sets, where somebody has a copy: `QUERENT_LOCOMO` names the file `locomo10.json`, `QUERENT_BEAM` a folder of
 * chats or a file of rows. Neither comes with the repository.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type BeamChat, beamRows, readBeam } from './beam.ts'
import { readLocomo } from './locomo.ts'
import type { QuestionSet } from './question-set.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface PublicSets {
  readonly sets: readonly QuestionSet[]
  /** Names of those that are not there, and how to say where they are. */
  readonly missing: readonly string[]
}

/** Throws where a path is given that is not there. */
export async function publicSets(env: Environment): Promise<PublicSets> {
  const sets: QuestionSet[] = []
  const missing: string[] = []
  const locomo = pathIn(env, 'QUERENT_LOCOMO')
  if (locomo === null) missing.push('LoCoMo (QUERENT_LOCOMO=<locomo10.json>)')
  else sets.push(await readLocomo(readFileSync(locomo, 'utf8'), basename(locomo)))
  const beam = pathIn(env, 'QUERENT_BEAM')
  if (beam === null) missing.push('BEAM (QUERENT_BEAM=<folder of chats or file of rows>)')
  else sets.push(await beamAt(beam))
  return { sets, missing }
}

function pathIn(env: Environment, name: string): string | null {
  const path = env[name]
  if (path === undefined || path === '') return null
  if (!existsSync(path)) throw new Error(`${name}: there is no ${path}`)
  return path
}

async function beamAt(path: string): Promise<QuestionSet> {
  if (!statSync(path).isDirectory()) {
    const { chats, problems } = beamRows(readFileSync(path, 'utf8'), basename(path))
    const set = await readBeam(chats, basename(path))
    return { ...set, problems: [...problems, ...set.problems] }
  }
  const unread: string[] = []
  const chats = readdirSync(path, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1))
    .flatMap((id): BeamChat[] => {
      const chat = jsonAt(join(path, id, 'chat.json'), `${id}/chat.json`, unread)
      const asked = join(path, id, 'probing_questions', 'probing_questions.json')
      const questions = jsonAt(asked, `${id}/probing_questions/probing_questions.json`, unread)
      return chat === null || questions === null ? [] : [{ id, chat, questions }]
    })
  const set = await readBeam(chats, basename(path))
  return { ...set, problems: [...unread, ...set.problems] }
}

function jsonAt(path: string, name: string, unread: string[]): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    unread.push(`${name}: ${error instanceof Error ? error.message.replace(path, name) : String(error)}`)
    return null
  }
}
