import type { Draft } from './draft.ts'
export function readMarkdown(_draft: Draft): void {}
