/** Questions as resources have addresses: `querent://live/<question>`, `?lens=<name>` after it where a lens is to answer. */

export const LIVE_TEMPLATE = 'querent://live/{question}'
export const LENS_TEMPLATE = 'querent://live/{question}{?lens}'

export interface LiveQuestion {
  readonly text: string
  readonly lens?: string
}

const FORM = /^querent:\/\/live\/([^/?#]+)(?:\?lens=([^&#]+))?$/

/** Null: no address of a question. `lens` answers where the address names none. */
export function questionAt(uri: string, lens: string | undefined): LiveQuestion | null {
  const [, question, named] = FORM.exec(uri) ?? []
  if (question === undefined) return null
  try {
    const through = named === undefined ? lens : decodeURIComponent(named)
    return { text: decodeURIComponent(question), ...(through !== undefined && { lens: through }) }
  } catch {
    return null
  }
}
