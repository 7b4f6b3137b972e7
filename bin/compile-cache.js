/**
 * Keeps compiled code between runs: reading it is half of a short command's time. Node would keep it in the shared folder for temporary files, where
 * another user may have made the folder first and put code into it; so it is kept in this user's own cache folder, or not at all.
 */
import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

const OTHERS_WRITE = 0o022
const STICKY = 0o1000

export function keepCompiledCode() {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = process.env
  if (NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return // Node has done as they say
  const folder = ownFolder()
  if (folder !== null) enableCompileCache(folder)
}

/** `$XDG_CACHE_HOME/querent/compiled`, with mode 0700; null where nobody else being able to write there cannot be made sure of. */
function ownFolder() {
  const { XDG_CACHE_HOME = '' } = process.env
  try {
    const cache = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache')
    const own = join(cache, 'querent')
    const folder = join(own, 'compiled')
    for (const path of [cache, own, folder]) makeFolder(path)
    return isKeptByUser(cache) && isOfUserAlone(own) && isOfUserAlone(folder) ? folder : null
  } catch {
    return null
  }
}

/** Without the folders above it: a home that is not there is not made. */
function makeFolder(path) {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/** Whether nobody but this user and root can put another folder in the place of one in it. */
function isKeptByUser(path) {
  if (process.getuid === undefined) return true
  const { uid, mode } = statSync(path)
  return (uid === process.getuid() || uid === 0) && ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0)
}

function isOfUserAlone(path) {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return false
  if (process.getuid === undefined) return true
  if (stat.uid !== process.getuid() || (stat.mode & OTHERS_WRITE) !== 0) return false
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700)
  return true
}
