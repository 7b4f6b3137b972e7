/**
 * A network of its own on one machine: hosts that are network namespaces, each with one link to one bridge, which can be taken
 * down and up. Nothing of it touches the network of the machine. Linux and root only.
 */
import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PREFIX = 'querent-test-'
/** The process that has made a namespace. */
const OWNER = new RegExp(`^${PREFIX}(\\d+)-`)
/** Hosts: 10.77.0.2 and on. */
const SUBNET = '10.77.0'
const FIRST = 2
/** A command that takes longer hangs. */
const MOST_MS = 20_000
const INSTALLING_MS = 300_000

export interface Network extends Disposable {
  addressOf(host: string): string
  /** What a command line begins with, to run at this host. */
  at(host: string): readonly string[]
  /** What is sent to it and from it is lost, without a word to anybody, until `mend`. */
  cut(host: string): void
  mend(host: string): void
}

/** Null where there can be one; else why not, in words for the name of a test. */
export function whyNoNetwork(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'skipped: only root may make network namespaces'
  const script = fileURLToPath(new URL('../../scripts/install-iproute2.sh', import.meta.url))
  if (spawnSync('sh', [script], { timeout: INSTALLING_MS }).status !== 0)
    return 'skipped: there is no ip, of the package iproute2'
  try {
    openNetwork(['a'])[Symbol.dispose]()
    return null
  } catch {
    return 'skipped: network namespaces are not allowed here'
  }
}

export function openNetwork(hosts: readonly string[]): Network {
  sweep()
  const own = `${PREFIX}${process.pid}-`
  const hub = `${own}hub`
  const places = new Map(hosts.map((host, at) => [host, at]))
  const placeOf = (host: string) => {
    const place = places.get(host)
    if (place === undefined) throw new Error(`no host ${host} in this network`)
    return place
  }
  const linkOf = (host: string) => `v${placeOf(host)}`
  const addressOf = (host: string) => `${SUBNET}.${FIRST + placeOf(host)}`
  const network: Network = {
    addressOf,
    at: host => ['ip', 'netns', 'exec', `${own}${placeOf(host)}`],
    cut: host => ip('-n', hub, 'link', 'set', linkOf(host), 'down'),
    mend: host => ip('-n', hub, 'link', 'set', linkOf(host), 'up'),
    [Symbol.dispose]: () => {
      for (const name of namespaces()) if (name.startsWith(own)) remove(name)
    },
  }
  try {
    ip('netns', 'add', hub)
    ip('-n', hub, 'link', 'add', 'bridge', 'type', 'bridge')
    ip('-n', hub, 'link', 'set', 'bridge', 'up')
    for (const host of hosts) {
      const name = `${own}${placeOf(host)}`
      ip('netns', 'add', name)
      ip('-n', name, 'link', 'set', 'lo', 'up')
      ip('-n', name, 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', linkOf(host), 'netns', hub)
      ip('-n', name, 'address', 'add', `${addressOf(host)}/24`, 'dev', 'uplink')
      ip('-n', name, 'link', 'set', 'uplink', 'up')
      ip('-n', hub, 'link', 'set', linkOf(host), 'master', 'bridge')
      network.mend(host)
    }
  } catch (thrown) {
    network[Symbol.dispose]()
    throw thrown
  }
  return network
}

/** What a process that is gone has left. */
function sweep(): void {
  for (const name of namespaces()) {
    const pid = Number(OWNER.exec(name)?.[1] ?? process.pid)
    if (!isAlive(pid)) remove(name)
  }
}

/** With what still runs in it; never with what runs here, whatever such a machine makes of namespaces. */
function remove(namespace: string): void {
  const here = networkOf('self')
  for (const pid of linesOf(ip('netns', 'pids', namespace))) {
    try {
      if (networkOf(pid) !== here) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  ip('netns', 'delete', namespace)
}

/** The number of the namespace that a process is in. */
function networkOf(pid: string): string {
  return readlinkSync(`/proc/${pid}/ns/net`)
}

/** A line each: the name, and perhaps a number. */
function namespaces(): readonly string[] {
  return linesOf(ip('netns', 'list')).map(line => line.split(' ')[0] as string)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function ip(...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('ip', args, { encoding: 'utf8', timeout: MOST_MS })
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`, { cause: error })
  return stdout
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter(line => line !== '')
}
