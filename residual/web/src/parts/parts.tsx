/** The pieces that every page is made of, from one place. docs/design.md says when to use which. */
export { Button } from './button.tsx';
export { Card } from './card.tsx';
export { Copyable } from './copyable.tsx';
export { Dialog } from './dialog.tsx';
export { EmptyState } from './empty-state.tsx';
export { Field } from './field.tsx';
export { HoldButton } from './hold-button.tsx';
export { Icon } from './icon.tsx';
export { Meter } from './meter.tsx';
export { Badge, ErrorNote, Note, Progress } from './note.tsx';
export { Sections } from './sections.tsx';
export { Segmented } from './segmented.tsx';
export { SlideConfirm } from './slide-confirm.tsx';
export { Sparkline } from './sparkline.tsx';
export { Stat } from './stat.tsx';
export { Tabs } from './tabs.tsx';
export { Unfold } from './unfold.tsx';
