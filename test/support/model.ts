/** The default model for tests: built when it is not there yet. */
// biome-ignore lint/correctness/useImportExtensions: the file is a script with types beside it, and biome wants .mjs.mts
import { buildModel } from '../../scripts/build-model.mjs'

/** Folder of the built model. Cheap when it exists: its hashes are checked. */
export function modelFolder(): string {
  return buildModel().folder
}
