/** The doctor on a store that no engine can be opened on: what is wrong with its file, and what to do. */
import type { Instant } from '../../base/clock.ts'
import type { DoctorRequest } from '../../model/care-input.ts'
import { QuerentError } from '../../model/errors.ts'
import { fileFinding } from '../../store/care/header.ts'
import { examineStore } from '../../store/care/store-care.ts'
import type { Examination } from '../engine.ts'
import type { Home } from '../home.ts'
import { filesFindings } from './doctor-files.ts'
import { type Examined, examination, finding, helpOf, looked, ofStore } from './finding.ts'
import { repair } from './repair.ts'

/** What is the store's fault; anything else is no finding. */
const OF_STORE: ReadonlySet<string> = new Set([
  'store_corrupt',
  'store_newer',
  'store_locked',
  'store_readonly',
  'io_failed',
])

export function isOfStore(error: unknown): error is QuerentError {
  return error instanceof QuerentError && OF_STORE.has(error.code)
}

/** `error`: why no engine could be opened. */
export async function examineClosed(
  home: Home,
  error: QuerentError,
  { repair: mends = false, backup = true }: DoctorRequest,
  now: Instant,
): Promise<Examination> {
  const look = async () => examineFiles(home, error)
  if (!mends) return examination(await look())
  return repair({ examine: look, storeFile: home.storeFile, backup, now: () => now, follow: async () => undefined })
}

function examineFiles(home: Home, error: QuerentError): readonly Examined[] {
  return [
    finding('opening', false, error.message, helpOf(error)),
    ...looked('file', () => [ofStore(fileFinding(home.storeFile))]),
    ...looked('home', () => filesFindings(home.folder, home.storeFile)),
    ...looked('pages', () => (error.code === 'store_newer' ? [] : examineStore(home.storeFile).map(ofStore))),
  ]
}
