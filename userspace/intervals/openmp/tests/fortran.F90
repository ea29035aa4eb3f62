! SPDX-License-Identifier: LGPL-2.1-or-later
! Calls each procedure of omp_lib and prints what it says; for fortran.py, which compares what the
! program prints with GCC's library and with ours. Of a region one thread prints.
module told
  use omp_lib
  implicit none
contains
  subroutine tell(name, value)
    character(len=*), intent(in) :: name
    integer(8), intent(in) :: value
    print '(2a, i0)', name, ' ', value
  end subroutine tell

  subroutine ask(name, value)
    character(len=*), intent(in) :: name
    logical(4), intent(in) :: value
    print '(2a, l1)', name, ' ', value
  end subroutine ask

  subroutine threads
    real(8) :: begun, ended, tick
    integer :: size, number, threads_there

    call tell('max threads', int(omp_get_max_threads(), 8))
    call tell('procs', int(omp_get_num_procs(), 8))
    call tell('thread limit', int(omp_get_thread_limit(), 8))
    call tell('priority', int(omp_get_max_task_priority(), 8))
    call ask('cancellation', omp_get_cancellation())
    call ask('final', omp_in_final())
    begun = omp_get_wtime()
    ended = omp_get_wtime()
    tick = omp_get_wtick()
    call ask('time', ended >= begun .and. ended < begun + 1000)
    call ask('tick', tick > 0 .and. tick < 1)
    size = 0
    !$omp parallel reduction(+: size) private(number, threads_there)
    size = size + 1
    !$omp single
    call ask('parallel', omp_in_parallel())
    threads_there = omp_get_num_threads()
    call tell('threads', int(threads_there, 8))
    number = omp_get_thread_num()
    call ask('thread', number >= 0 .and. number < threads_there)
    !$omp end single
    !$omp end parallel
    call tell('size', int(size, 8))
    call ask('parallel', omp_in_parallel())
  end subroutine threads

  ! Both kinds of each: procedures of integer(8) and logical(8) have names of their own.
  subroutine control_variables
    integer(8), parameter :: huge8 = 2_8**40
    integer(omp_sched_kind) :: kind
    integer(4) :: chunk
    integer(8) :: chunk8

    call omp_set_dynamic(.true.)
    call ask('dynamic', omp_get_dynamic())
    call omp_set_dynamic(.false._8)
    call ask('dynamic', omp_get_dynamic())
    call omp_set_nested(.true._8)
    call ask('nested', omp_get_nested())
    call omp_set_nested(.false.)
    call ask('nested', omp_get_nested())
    call omp_set_max_active_levels(3)
    call tell('levels', int(omp_get_max_active_levels(), 8))
    call omp_set_max_active_levels(-1_8)
    call tell('levels', int(omp_get_max_active_levels(), 8))
    call omp_set_max_active_levels(4_8)
    call tell('levels', int(omp_get_max_active_levels(), 8))
    call ask('supported levels', omp_get_supported_active_levels() >= 4)
    call omp_set_num_threads(5)
    call tell('max threads', int(omp_get_max_threads(), 8))
    call omp_set_num_threads(huge8)
    call tell('max threads', int(omp_get_max_threads(), 8))
    call omp_set_num_threads(-huge8)
    call tell('max threads', int(omp_get_max_threads(), 8))
    call omp_set_schedule(omp_sched_dynamic, 7)
    call omp_get_schedule(kind, chunk)
    call tell('schedule', int(kind, 8))
    call tell('chunk', int(chunk, 8))
    call omp_set_schedule(omp_sched_guided, huge8)
    call omp_get_schedule(kind, chunk8)
    call tell('schedule', int(kind, 8))
    call tell('chunk', chunk8)
    call omp_set_schedule(omp_sched_static, -huge8)
    call omp_get_schedule(kind, chunk8)
    call tell('schedule', int(kind, 8))
    call tell('chunk', chunk8)
    call omp_set_num_teams(3)
    call tell('teams', int(omp_get_max_teams(), 8))
    call omp_set_num_teams(0_8)
    call tell('teams', int(omp_get_max_teams(), 8))
    call omp_set_teams_thread_limit(6)
    call tell('limit of teams', int(omp_get_teams_thread_limit(), 8))
    call omp_set_teams_thread_limit(0_8)
    call tell('limit of teams', int(omp_get_teams_thread_limit(), 8))
  end subroutine control_variables

  subroutine nesting
    integer(8) :: level
    integer :: there

    call omp_set_max_active_levels(2)
    !$omp parallel num_threads(2)
    !$omp single
    !$omp parallel num_threads(3)
    !$omp single
    call tell('level', int(omp_get_level(), 8))
    call tell('active level', int(omp_get_active_level(), 8))
    do there = -1, 3
      level = there
      call tell('team size', int(omp_get_team_size(there), 8))
      call tell('team size', int(omp_get_team_size(level), 8))
      ! Which thread comes first is a matter of chance.
      if (there > 0 .and. there < 3) then
        call ask('ancestor', omp_get_ancestor_thread_num(there) < omp_get_team_size(there))
        call ask('ancestor', omp_get_ancestor_thread_num(level) >= 0)
      else
        call tell('ancestor', int(omp_get_ancestor_thread_num(there), 8))
        call tell('ancestor', int(omp_get_ancestor_thread_num(level), 8))
      end if
    end do
    call tell('team size', int(omp_get_team_size(2_8**33 + 1), 8))
    !$omp end single
    !$omp end parallel
    !$omp end single
    !$omp end parallel
    !$omp teams num_teams(2)
    if (omp_get_team_num() == 1) call tell('league', int(omp_get_num_teams(), 8))
    !$omp end teams
    call omp_set_max_active_levels(1)
  end subroutine nesting

  subroutine locks
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nested
    integer :: i, sum, sum_nested

    sum = 0
    sum_nested = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nested)
    !$omp parallel do shared(lock, nested, sum, sum_nested)
    do i = 1, 1000
      call omp_set_lock(lock)
      sum = sum + i
      call omp_unset_lock(lock)
      do while (omp_test_nest_lock(nested) == 0)
      end do
      call omp_set_nest_lock(nested)
      sum_nested = sum_nested + i
      call omp_unset_nest_lock(nested)
      call omp_unset_nest_lock(nested)
    end do
    !$omp end parallel do
    call tell('under a lock', int(sum, 8))
    call tell('under a nested lock', int(sum_nested, 8))
    call ask('taken', omp_test_lock(lock))
    !$omp parallel num_threads(2) shared(lock, nested)
    !$omp barrier
    !$omp single
    call ask('taken', omp_test_lock(lock))
    call tell('taken', int(omp_test_nest_lock(nested), 8))
    call tell('taken', int(omp_test_nest_lock(nested), 8))
    call omp_unset_nest_lock(nested)
    call omp_unset_nest_lock(nested)
    !$omp end single
    !$omp end parallel
    call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nested)
  end subroutine locks

  subroutine places
    integer(4) :: nums(1024)
    integer(8) :: nums8(1024)
    integer :: i, count

    call tell('bind', int(omp_get_proc_bind(), 8))
    call tell('places', int(omp_get_num_places(), 8))
    call tell('place', int(omp_get_place_num(), 8))
    call tell('partition', int(omp_get_partition_num_places(), 8))
    nums = -7
    nums8 = -7
    call omp_get_partition_place_nums(nums)
    call omp_get_partition_place_nums(nums8)
    print '(a, 4(1x, i0))', 'partition', nums(1:4)
    print '(a, 4(1x, i0))', 'partition', nums8(1:4)
    do i = -1, 2
      count = omp_get_place_num_procs(i)
      call tell('procs of a place', int(count, 8))
      call tell('procs of a place', int(omp_get_place_num_procs(int(i, 8)), 8))
      nums = -7
      nums8 = -7
      call omp_get_place_proc_ids(i, nums)
      call omp_get_place_proc_ids(int(i, 8), nums8)
      print '(a, 4(1x, i0))', 'procs of a place', nums(1:4)
      print '(a, 4(1x, i0))', 'procs of a place', nums8(1:4)
    end do
    call tell('procs of no place', int(omp_get_place_num_procs(2_8**32), 8))
  end subroutine places

  subroutine devices
    call tell('devices', int(omp_get_num_devices(), 8))
    call tell('device', int(omp_get_device_num(), 8))
    call tell('initial device', int(omp_get_initial_device(), 8))
    call ask('initial device', omp_is_initial_device())
    call tell('default device', int(omp_get_default_device(), 8))
    call omp_set_default_device(2)
    call tell('default device', int(omp_get_default_device(), 8))
    call omp_set_default_device(0_8)
    call tell('default device', int(omp_get_default_device(), 8))
    call tell('pause', int(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 8))
    call tell('pause', int(omp_pause_resource_all(omp_pause_hard), 8))
  end subroutine devices

  ! Strings have no end but their length, and blanks behind them.
  subroutine affinity
    character(len=40) :: buffer
    character(len=5) :: short

    call omp_set_affinity_format('thread %n of %N, level %L')
    call tell('format', int(omp_get_affinity_format(buffer), 8))
    print '(3a)', '[', buffer, ']'
    call tell('format', int(omp_get_affinity_format(short), 8))
    print '(3a)', '[', short, ']'
    call tell('affinity', int(omp_capture_affinity(buffer, ''), 8))
    print '(3a)', '[', buffer, ']'
    call tell('affinity', int(omp_capture_affinity(short, '%0.4n of %.4N  '), 8))
    print '(3a)', '[', short, ']'
    call tell('affinity', int(omp_capture_affinity(buffer, '  '), 8))
    print '(3a)', '[', buffer, ']'
    call tell('affinity', int(omp_capture_affinity(buffer(1:0), '%n'), 8))
    call omp_set_affinity_format('%N  ')
    call tell('format', int(omp_get_affinity_format(buffer), 8))
    print '(3a)', '[', buffer, ']'
    call omp_display_affinity('')
    call omp_display_affinity('one of %{num_threads}')
    call omp_set_affinity_format('')
    call tell('affinity', int(omp_capture_affinity(buffer, ''), 8))
  end subroutine affinity

  subroutine allocators
    use, intrinsic :: iso_c_binding
    type(omp_alloctrait) :: traits(2)
    integer(omp_allocator_handle_kind) :: allocator
    type(c_ptr) :: memory

    call tell('allocator', int(omp_get_default_allocator(), 8))
    traits(1) = omp_alloctrait(omp_atk_alignment, 256)
    traits(2) = omp_alloctrait(omp_atk_fallback, omp_atv_null_fb)
    allocator = omp_init_allocator(omp_default_mem_space, 2, traits)
    call omp_set_default_allocator(allocator)
    call ask('allocator', omp_get_default_allocator() == allocator)
    memory = omp_alloc(100_c_size_t, omp_null_allocator)
    call tell('alignment', mod(transfer(memory, 0_8), 256_8))
    call omp_free(memory, omp_null_allocator)
    call omp_set_default_allocator(omp_default_mem_alloc)
    call omp_destroy_allocator(allocator)
    allocator = omp_init_allocator(omp_default_mem_space, 1_8, traits)
    memory = omp_alloc(100_c_size_t, allocator)
    call tell('alignment', mod(transfer(memory, 0_8), 256_8))
    call omp_free(memory, allocator)
    call omp_destroy_allocator(allocator)
    allocator = omp_init_allocator(omp_default_mem_space, 1, [omp_alloctrait(omp_atk_alignment, 3)])
    call tell('allocator', int(allocator, 8))
  end subroutine allocators

  subroutine events
    integer(omp_event_handle_kind) :: event
    integer :: done, fulfilled

    done = 0
    fulfilled = 0
    !$omp parallel
    !$omp single
    !$omp task detach(event) depend(out: done) shared(done)
    done = 1
    !$omp end task
    !$omp task depend(in: done) shared(done, fulfilled)
    call tell('after the event', int(done + fulfilled, 8))
    !$omp end task
    fulfilled = 10
    call omp_fulfill_event(event)
    !$omp end single
    !$omp end parallel
  end subroutine events

#if __GNUC__ >= 13
  subroutine explicit_task
    call ask('explicit task', omp_in_explicit_task())
    !$omp parallel
    !$omp single
    call ask('explicit task', omp_in_explicit_task())
    !$omp task
    call ask('explicit task', omp_in_explicit_task())
    !$omp end task
    !$omp end single
    !$omp end parallel
  end subroutine explicit_task
#endif

#if __GNUC__ >= 15
  subroutine tell_text(name, text)
    character(len=*), intent(in) :: name
    character(:), pointer, intent(in) :: text
    if (associated(text)) then
      print '(5a)', name, ' [', text, ']'
    else
      print '(2a, i0)', name, ' none, length ', len(text)
    end if
  end subroutine tell_text

  subroutine identifiers
    integer :: device

    do device = -4, 2
      call tell_text('identifier', omp_get_uid_from_device(device))
      call tell_text('identifier', omp_get_uid_from_device(int(device, 8)))
    end do
    call tell('device', int(omp_get_device_from_uid(omp_get_uid_from_device(0)), 8))
    call tell('device', int(omp_get_device_from_uid('OMP_INITIAL_DEVICE '), 8))
    call tell('device', int(omp_get_device_from_uid('OMP_'), 8))
    call tell('device', int(omp_get_device_from_uid(''), 8))
  end subroutine identifiers

  subroutine foreign_runtimes
    integer(omp_interop_property_kind) :: property
    integer(omp_interop_rc_kind) :: code

    do property = -11, 3
      code = int(property, omp_interop_rc_kind)
      call tell_text('name', omp_get_interop_name(omp_interop_none, property))
      call tell_text('type', omp_get_interop_type_desc(omp_interop_none, property))
      ! Each library has words of its own for a code.
      call ask('code', associated(omp_get_interop_rc_desc(omp_interop_none, code)))
      call tell_text('text', omp_get_interop_str(omp_interop_none, property, code))
      call tell('code', int(code, 8))
      call tell_text('text', omp_get_interop_str(omp_interop_none, property))
    end do
  end subroutine foreign_runtimes
#endif

  subroutine display
    call omp_display_env(.false.)
    call omp_display_env(.true.)
    call omp_display_env(.true._8)
  end subroutine display
end module told

program procedures
  use told

  call threads
  call nesting
  call locks
  call places
  call devices
  call affinity
  call allocators
  call events
#if __GNUC__ >= 13
  call explicit_task
#endif
#if __GNUC__ >= 15
  call identifiers
  call foreign_runtimes
#endif
  call display
  call control_variables
end program procedures
