/** Folders of the built-in model under other names: their vectors differ, since each puts another word before its texts. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelFolder } from './model.ts'

export interface CopyOptions {
  readonly id: string
  readonly languages: readonly string[]
  /** Put before each text. */
  readonly prefix: string
}

/** Makes the folder; its files are those of the built-in model. */
export function copyModel(folder: string, { id, languages, prefix }: CopyOptions): string {
  const from = modelFolder()
  const manifest = JSON.parse(readFileSync(join(from, 'manifest.json'), 'utf8'))
  mkdirSync(folder, { recursive: true })
  for (const file of Object.keys(manifest.files)) symlinkSync(join(from, file), join(folder, file))
  const changed = { ...manifest, id, languages, prefixes: { query: prefix, passage: prefix } }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(changed))
  return folder
}
