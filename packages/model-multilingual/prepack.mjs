// Copies the model into this folder before `npm pack`; builds it first where it is missing.
import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildMultilingual } from '../../scripts/build-multilingual.mjs'

const { folder } = await buildMultilingual()
cpSync(folder, fileURLToPath(new URL('model', import.meta.url)), { recursive: true })
