import type { JSX } from 'preact';

export default function Extensions(): JSX.Element {
  return <div class="page" />;
}
