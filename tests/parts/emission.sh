# In the lowering no two arguments of one C++ call emit IR, since their order would be the C++ compiler's choice: emission.sh OBJ
command -v python3 >/dev/null || { echo "skipped emission: there is no python3"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
python3 tests/emission/order.py src/lower/*.h src/lower/*.cpp && { echo "1 passed, 0 failed"; exit 0; }
echo "0 passed, 1 failed"
exit 1
