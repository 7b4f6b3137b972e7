/** What the guide to query profiles imports as `querent`. */
export { openChroma } from '../../../../../src/engine/open-chroma.ts'
export { CHROMA_BASE } from '../../../../../src/lenses/chroma/profiles/chroma-base.ts'
export { QueryProfile } from '../../../../../src/lenses/chroma/profiles/query-profile.ts'
