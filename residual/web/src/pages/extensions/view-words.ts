/** Words of the cards of extensions and of the steps of an installation. */
export const extensionsViewWords = {
  by: (author: string) => `by ${author}`,
  add: 'Install an extension',
  emptyHint:
    'Extensions add pages, tools and services to this node. Each says what it may do before it runs.',
  mayNothing: 'It has no permissions.',
  may: 'It may',
  moreGrants: (count: number) => (count === 1 ? 'and 1 more' : `and ${count} more`),
  steps: ['Choose', 'What it may do', 'Installed'],
  step: (at: number, of: number, name: string) => `Step ${at} of ${of}: ${name}`,
  from: 'From',
  sources: { file: 'File', url: 'Web address' },
  url: 'Address of the archive',
  urlHint: 'The node itself downloads it. It is installed switched off; you allow what it may do next.',
  sha: 'SHA-256 of the archive',
  shaHint: '64 hexadecimal digits, from who publishes it.',
  download: 'Download and install',
  settings: 'Open',
};
