/** The doctor on a store that no engine can be opened on: what is wrong with its file, and what to do. */
import type { Instant } from '../../base/clock.ts'
import type { DoctorRequest } from '../../model/care-input.ts'
import { QuerentError } from '../../model/errors.ts'
import { fileFinding } from '../../store/care/header.ts'
import { RESTORE_HELP } from '../../store/care/problem.ts'
import { examineStore, type StoreFinding } from '../../store/care/store-care.ts'
import { filesFindings } from './doctor-files.ts'
import type { Examination } from '../engine.ts'
import { type Examined, finding } from './finding.ts'
import type { Home } from '../home.ts'
import { examination, repair } from './repair.ts'

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

function helpOf({ code, help }: QuerentError): string {
  return code === 'store_corrupt' ? RESTORE_HELP : help
}

function ofStore({ check, ok, message, help, isMendable }: StoreFinding): Examined {
  return finding(check, ok, message, help, isMendable ? 'store' : null)
}

/** Files that cannot even be looked at are a finding too. */
function looked(check: string, look: () => readonly Examined[]): readonly Examined[] {
  try {
    return look()
  } catch (error) {
    if (error instanceof QuerentError) return [finding(check, false, error.message, helpOf(error))]
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return [finding(check, false, (error as Error).message, 'Check the path, its permissions and the free space.')]
  }
}
