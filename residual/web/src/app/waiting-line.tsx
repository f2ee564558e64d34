import { PenLine } from 'lucide';
import type { JSX } from 'preact';
import { Icon } from '../parts/parts.tsx';
import { confirmWords } from './confirm-words.ts';
import { hrefOf } from './route.ts';

/** The way to a call that waits. */
export default function WaitingLine({
  code,
  tool,
}: {
  readonly code: string;
  readonly tool: string;
}): JSX.Element {
  return (
    <div class="banner warn" role="status">
      <Icon of={PenLine} />
      <a href={hrefOf('access', 'confirm', code)}>{confirmWords.waiting({ tool })}</a>
    </div>
  );
}
