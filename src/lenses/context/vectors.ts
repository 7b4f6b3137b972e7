/** Vectors of what a call has written, so that it is found by meaning at once (CX-024); what fails is left to the engine. */
import type { EntryKey } from '../../model/entry.ts'
import { embedEntries } from '../embed-entries.ts'
import type { Call } from './call.ts'

/** More than this is work for the background. */
const MOST = 64

export async function embedNow({ host, signal }: Call, entries: readonly EntryKey[]): Promise<void> {
  if (entries.length > MOST) return
  try {
    await embedEntries(host, entries, signal)
  } catch {
    // The concept is written; its vector is made by the background, which tells what keeps failing.
  }
}
