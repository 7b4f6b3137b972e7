/** Whom a request counts against, where there are limits. */

const KEY = 'did:key:'

/**
 * The viewer; but all keys that are no agent here are one, since keys are free to create. Agents have names: no
 * name has a colon.
 */
export function requesterOf(viewer: string): string {
  return viewer.startsWith(KEY) ? KEY : viewer
}
