// Syntax of Node 12 only: a Node that is too old must get as far as the sentence below.

/** Null: this Node is new enough. */
export function tooOldMessage() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 16)) return null
  const advice = 'Without installing Node: npx -y -p node@24 -p querent querent'
  return `querent needs Node 22.16 or newer, this is ${process.versions.node}. ${advice}`
}
